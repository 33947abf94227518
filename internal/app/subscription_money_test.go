package app

import (
	"math"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// currency adds a currency to those that plans can be sold in.
func (s *server) currency(code string, minorUnits int) {
	s.t.Helper()
	_, err := dbtest.Open(s.t, s.database).Conn(s.t.Context()).ExecContext(s.t.Context(),
		`INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES ($1, $1, $1, $2, true, $3, $3)`,
		code, minorUnits, clock.System().Now())
	if err != nil {
		s.t.Fatal(err)
	}
}

// Amounts have as many decimals as their currency, here and at the provider, which
// has rules of its own for those with three.
func TestMoneyWithoutHundredths(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("money")
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
				s.currency(c.currency, c.minorUnits)
				cheap := s.keeper().shop(product, "low-"+c.currency, map[string]int{c.currency: c.low})
				s.keeper().shop(product, "high-"+c.currency, map[string]int{c.currency: c.high})
				l := s.life("buys-" + c.currency)
				if c.broken != 0 {
					broken := s.keeper().shop(product, "broken-"+c.currency, map[string]int{c.currency: c.broken})
					l.order(broken, c.currency).want(422)
				}
				l.buy(cheap, c.currency, card(goodCard))
				l.costs(c.currency, c.low)
				s.pass(10 * day)
				l.again()
				shown := l.preview(l.owner, "high-"+c.currency, 0).want(200)
				net := shown.same("data.net.currency", c.currency).at("data.net.cents").(float64)
				if net <= 0 || net >= float64(c.high) || math.Mod(net, c.step) != 0 {
					t.Errorf("another plan costs %v: %s", net, shown.text)
				}
				l.changeTo(l.owner, "high-"+c.currency, nil).want(200)
				l.costs(c.currency, c.high)
				invoices := l.held(l.owner, "invoice")
				invoices[len(invoices)-1].same("total", net).same("amount_paid", net)
				s.pass(22*day + 2*time.Hour)
				l.is("active")
				l.costs(c.currency, c.high)
				invoices = l.held(l.owner, "invoice")
				invoices[len(invoices)-1].same("total", float64(c.high)).same("amount_paid", float64(c.high))
			})
		}
	})
}

// costs fails the test unless the subscription costs exactly that, here and at the
// provider.
func (l *life) costs(currency string, minor int) {
	l.t.Helper()
	l.subscription(l.owner).same("data.price_cents", float64(minor)).same("data.currency", currency)
	there := l.held(l.owner, "subscription")
	there[len(there)-1].same("items.data.0.price.unit_amount", float64(minor))
}
