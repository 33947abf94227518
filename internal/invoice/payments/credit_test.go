package payments_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The credit is the provider's balance, with the amounts that the platform granted and revoked.
// Invoices of both sources show the credit applied.
func TestCredit(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server) {
		none := s.NewCustomer("bob")
		get(none, "/credit").WantAt("data.balance.amount_cents", 0.0).WantAt("data.entries", []any{})

		c, first := renews(s, "ada", apptest.CardPays)
		first.WantAt("data.balance_applied", object{"amount_cents": 0.0, "currency": "EUR"})
		get(c, "/credit").WantAt("data", object{"balance": object{"amount_cents": 0.0, "currency": "EUR"}, "entries": []any{}})

		admin := "/api/v1/admin/tenants/" + c.Tenant + "/credit"
		s.Call("POST", admin, s.Admin(), object{"amount_cents": 3000, "currency": "EUR", "reason": "outage"}).Want(201)
		s.Call("POST", admin, s.Admin(), object{"amount_cents": -500, "currency": "EUR", "reason": "too much"}).Want(201)
		get(c, "/credit").WantAt("data.balance", object{"amount_cents": 2500.0, "currency": "EUR"}).
			WantAt("data.entries.0.amount", object{"amount_cents": -500.0, "currency": "EUR"}).
			WantAt("data.entries.1.amount", object{"amount_cents": 3000.0, "currency": "EUR"})

		// Each of the next two renewals costs 20.00. The credit pays the first and a quarter of the
		// second.
		for i, applied := range []float64{2000, 500} {
			s.Advance(31*apptest.Day + 2*time.Hour)
			c.LogInAgain()
			id := s.Invoices(c.Owner, 3+i)[0].(object)["id"].(string)
			get(c, "/invoices/"+id).WantAt("data.status", "paid").WantAt("data.total.amount_cents", 2000.0).WantAt("data.balance_applied.amount_cents", applied)
		}
		get(c, "/credit").WantAt("data.balance.amount_cents", 0.0)
	})
}
