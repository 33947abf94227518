package operation_test

import (
	"math"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/clock"
)

// addCurrency adds a currency to those that plans can be sold in.
func addCurrency(s *apptest.Server, code string, minorUnits int) {
	s.T.Helper()
	_, err := s.DB().Conn(s.T.Context()).ExecContext(s.T.Context(),
		`INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES ($1, $1, $1, $2, true, $3, $3)`,
		code, minorUnits, clock.System().Now())
	if err != nil {
		s.T.Fatal(err)
	}
}

// Amounts have as many decimals as their currency, here and at the provider, which
// has rules of its own for those with three.
func TestMoneyWithoutHundredths(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("money")
		for _, c := range []struct {
			currency   string
			minorUnits int
			low, high  int // prices of two plans
			step       float64
			broken     int // a price that the provider cannot charge; 0 where there is none
		}{
			{"JPY", 0, 1201, 5003, 1, 0},
			{"KWD", 3, 12_340, 99_990, 10, 12_345},
			{"ISK", 2, 120_100, 500_300, 100, 120_150}, // whole, but counted in hundredths
		} {
			t.Run(c.currency, func(t *testing.T) {
				addCurrency(s, c.currency, c.minorUnits)
				cheap := s.CatalogAdmin().CreatePricedPlan(product, "low-"+c.currency, map[string]int{c.currency: c.low})
				s.CatalogAdmin().CreatePricedPlan(product, "high-"+c.currency, map[string]int{c.currency: c.high})
				l := s.NewCustomer("buys-" + c.currency)
				if c.broken != 0 {
					broken := s.CatalogAdmin().CreatePricedPlan(product, "broken-"+c.currency, map[string]int{c.currency: c.broken})
					l.OpenCheckout(broken, c.currency).Want(422)
				}
				l.Buy(cheap, c.currency, apptest.Card(apptest.CardPays))
				wantCosts(l, c.currency, c.low)
				s.Advance(10 * apptest.Day)
				l.LogInAgain()
				shown := l.PreviewChange(l.Owner, "high-"+c.currency, 0).Want(200)
				net := shown.WantAt("data.net.currency", c.currency).At("data.net.cents").(float64)
				if net <= 0 || net >= float64(c.high) || math.Mod(net, c.step) != 0 {
					t.Errorf("another plan costs %v: %s", net, shown.Text)
				}
				l.ChangePlan(l.Owner, "high-"+c.currency, nil).Want(200)
				wantCosts(l, c.currency, c.high)
				invoices := l.ProviderObjects(l.Owner, "invoice")
				invoices[len(invoices)-1].WantAt("total", net).WantAt("amount_paid", net)
				s.Advance(22*apptest.Day + 2*time.Hour)
				l.WantStatus("active")
				wantCosts(l, c.currency, c.high)
				invoices = l.ProviderObjects(l.Owner, "invoice")
				invoices[len(invoices)-1].WantAt("total", float64(c.high)).WantAt("amount_paid", float64(c.high))
			})
		}
	})
}

// wantCosts fails the test unless the subscription costs exactly that, here and at the
// provider.
func wantCosts(l *apptest.Customer, currency string, minor int) {
	l.T.Helper()
	l.Subscription(l.Owner).WantAt("data.price_cents", float64(minor)).WantAt("data.currency", currency)
	there := l.ProviderObjects(l.Owner, "subscription")
	there[len(there)-1].WantAt("items.data.0.price.unit_amount", float64(minor))
}
