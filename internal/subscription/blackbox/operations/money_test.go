package blackbox_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// addCurrency adds a currency in which plans can be sold.
func addCurrency(s *apptest.Server, code string, minorUnits int) {
	s.T.Helper()
	_, err := s.DB().Conn(s.T.Context()).ExecContext(s.T.Context(),
		`INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES ($1, $1, $1, $2, true, $3, $3)`,
		code, minorUnits, clock.System().Now())
	if err != nil {
		s.T.Fatal(err)
	}
}

// Amounts have as many decimals as the service stores for their currency. The provider counts some
// currencies differently and accepts only certain amounts. Sold amounts are converted, and an amount
// that cannot be charged is rejected with the nearest chargeable amounts.
func TestMoneyInUnitsOfTheProvider(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("money")
		// If the service stores too few decimals for a currency, it cannot represent the charged amounts.
		addCurrency(s, "SEK", 0)
		plan := k.CreatePricedPlan(product, "kronor", map[string]int{"SEK": 90})
		s.NewCustomer("buys-kronor").OpenCheckout(plan, "SEK").WantRefused(422, "psp_amount_unsupported")
		for _, c := range []moneyCase{
			{currency: "JPY", low: 1201, high: 5003, step: 1, there: 1},
			{currency: "KWD", minorUnits: 3, low: 12_340, high: 99_990, step: 10, there: 1, refused: 12_345, possible: "12340, 12350"},
			{currency: "OMR", minorUnits: 2, low: 1_234, high: 9_999, step: 1, there: 10},
			{currency: "ISK", low: 1201, high: 5003, step: 1, there: 100, refused: 1_000_000, possible: "999999"},
			{currency: "UGX", minorUnits: 2, low: 120_100, high: 500_300, step: 100, there: 1, refused: 120_150, possible: "120100, 120200"},
			{currency: "MGA", minorUnits: 2, low: 120_100, high: 500_300, step: 100, there: 0.01, refused: 50, possible: "100"},
		} {
			t.Run(c.currency, func(t *testing.T) { c.run(t, s, product) })
		}
	})
}

type moneyCase struct {
	currency   string
	minorUnits int
	low, high  int     // prices of two plans
	step       float64 // all amounts are multiples of it
	there      float64 // the provider's amount for one unit of the service
	refused    int     // a price that cannot be charged, or 0
	possible   string
}

func (c moneyCase) run(t *testing.T, s *apptest.Server, product string) {
	k := s.CatalogAdmin()
	addCurrency(s, c.currency, c.minorUnits)
	cheap := k.CreatePricedPlan(product, "low-"+c.currency, map[string]int{c.currency: c.low})
	k.CreatePricedPlan(product, "high-"+c.currency, map[string]int{c.currency: c.high})
	l := s.NewCustomer("buys-" + c.currency)
	if c.refused != 0 {
		refusal := k.AdminCall("PUT", "/plans/"+cheap+"/prices", apptest.Object{"prices": []any{apptest.Price(c.currency, c.refused)}})
		refusal.WantInvalid("prices.0.price_cents")
		if !strings.Contains(refusal.Str("message"), " "+c.possible+".") {
			t.Errorf("possible is %s: %s", c.possible, refusal.Text)
		}
		apptest.Exec(t, s.DB(), `UPDATE plan_prices SET price_cents = $1 WHERE plan_id = $2`, c.refused, cheap)
		l.OpenCheckout(cheap, c.currency).WantRefused(422, "psp_amount_unsupported")
		apptest.Exec(t, s.DB(), `UPDATE plan_prices SET price_cents = $1 WHERE plan_id = $2`, c.low, cheap)
	}
	l.Buy(cheap, c.currency, apptest.Card(apptest.CardPays))
	c.wantCosts(l, c.low)
	s.Advance(10 * apptest.Day)
	l.LogInAgain()
	shown := l.PreviewChange(l.Owner, "high-"+c.currency, 0).Want(200)
	net := shown.WantAt("data.net.currency", c.currency).At("data.net.cents").(float64)
	if net <= 0 || net >= float64(c.high) || math.Mod(net, c.step) != 0 {
		t.Errorf("another plan costs %v: %s", net, shown.Text)
	}
	l.ChangePlan(l.Owner, "high-"+c.currency, nil).Want(200)
	c.wantCosts(l, c.high)
	c.wantInvoice(l, net)
	s.Advance(22*apptest.Day + 2*time.Hour)
	l.WantStatus("active")
	c.wantCosts(l, c.high)
	c.wantInvoice(l, float64(c.high))
}

// wantCosts fails the test unless the subscription has exactly this price, here and at the
// provider.
func (c moneyCase) wantCosts(l *apptest.Customer, minor int) {
	l.T.Helper()
	l.Subscription(l.Owner).WantAt("data.price_cents", float64(minor)).WantAt("data.currency", c.currency)
	there := l.ProviderObjects(l.Owner, "subscription")
	there[len(there)-1].WantAt("items.data.0.price.unit_amount", float64(minor)*c.there)
}

// wantInvoice fails the test unless the last invoice is paid and has this amount, here and at the
// provider.
func (c moneyCase) wantInvoice(l *apptest.Customer, minor float64) {
	l.T.Helper()
	invoices := l.ProviderObjects(l.Owner, "invoice")
	invoices[len(invoices)-1].WantAt("total", minor*c.there).WantAt("amount_paid", minor*c.there)
	list := l.Call("GET", l.Path("/invoices"), l.Token, nil).Want(200)
	list.WantAt("data.0.total.amount_cents", minor)
}
