package blackbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// sell sells a plan to a customer who pays by invoice within 14 days, and returns the invoice.
func sell(s *apptest.Server, o apptest.Owner) (id string) {
	s.T.Helper()
	s.Call("POST", "/api/v1/admin/tenants/"+o.Tenant+"/subscriptions", s.Admin(), object{
		"plan_id": s.PlanID(o, "starter"), "currency": "EUR", "collection": "invoice", "days_until_due": 14,
	}).Want(201)
	s.AwaitNotifications()
	return s.Invoices(o, 1)[0].(object)["id"].(string)
}

// sums is the totals of a list with one currency.
func sums(count, total, due int) []any {
	return []any{object{"currency": "EUR", "count": float64(count), "total": float64(total), "amount_due": float64(due)}}
}

// Open invoices become overdue the day after their due date. A credit note lowers the amount due.
// The amount due of a void invoice is 0.
func TestOpenInvoicesAcrossTenants(t *testing.T) {
	t.Parallel()
	t.Run("provider", func(t *testing.T) { t.Parallel(); testOpenInvoices(t) })
	t.Run("platform", func(t *testing.T) { t.Parallel(); testOpenInvoices(t, apptest.WithPlatformInvoices) })
}

func testOpenInvoices(t *testing.T, options ...apptest.Option) {
	t.Helper()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		invoice, voided := sell(s, ada.Owner), sell(s, bob.Owner)
		of := func(o apptest.Owner, filter, value string) apptest.Reply {
			return list(s, s.Admin(), "invoices", "filter[tenant]", o.Tenant, "filter["+filter+"]", value).As(filter + " " + value).Want(200)
		}
		open := of(ada.Owner, "status", "open").WantAt("data.0.amount_due.amount_cents", 1900.0).WantAt("meta.totals", sums(1, 1900, 1900))
		due := open.Str("data.0.due_date")
		if want := s.Now().AddDate(0, 0, 14).Format(time.DateOnly); due != want {
			t.Errorf("due on %s, want %s", due, want)
		}
		wantColumn(t, of(ada.Owner, "overdue", "true"), "id")
		wantColumn(t, of(ada.Owner, "overdue", "false"), "id", invoice)

		// A credit note.
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invoices/"+invoice+"/credit-notes", s.Admin(), object{
			"amount_cents": 500, "settlement": "none", "reason": "other",
		}).Want(201)
		s.AwaitNotifications()
		apptest.Eventually(t, "the lower amount", func() bool {
			return of(ada.Owner, "status", "open").At("data.0.amount_due.amount_cents") == 1400.0
		})
		of(ada.Owner, "status", "open").WantAt("meta.totals", sums(1, 1900, 1400)).WantAt("data.0.credited.amount_cents", 500.0)
		s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, s.Admin(), nil).Want(200).
			WantAt("data.open_amount", []any{object{"amount_cents": 1400.0, "currency": "EUR"}})
		list(s, s.Admin(), "credit-notes", "filter[tenant]", ada.Tenant).Want(200).WantAt("data.0.total.amount_cents", 500.0).
			WantAt("meta.totals", []any{object{"currency": "EUR", "count": 1.0, "total": 500.0}})
		list(s, s.Admin(), "credit-notes", "filter[tenant]", bob.Tenant).Want(200).WantAt("meta.totals", []any{})

		// A void invoice.
		s.Call("POST", "/api/v1/admin/tenants/"+bob.Tenant+"/invoices/"+voided+"/void", s.Admin(), nil).Want(200)
		wantColumn(t, of(bob.Owner, "status", "open"), "id")
		of(bob.Owner, "status", "void").WantAt("data.0.id", voided).WantAt("data.0.amount_due.amount_cents", 0.0).WantAt("meta.totals", sums(1, 1900, 0))
		s.Call("GET", "/api/v1/admin/tenants/"+bob.Tenant, s.Admin(), nil).Want(200).WantAt("data.open_amount", []any{})

		s.AdvanceTo(s.Now().AddDate(0, 0, 15))
		wantColumn(t, of(ada.Owner, "overdue", "true"), "id", invoice)
		wantColumn(t, of(ada.Owner, "overdue", "false"), "id")
		wantColumn(t, of(bob.Owner, "overdue", "true"), "id")
	}, options...)
}

// A renewal is a draft for an hour.
func TestDraftsAcrossTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		s.AdvanceTo(s.Subscription(ada).TimeAt("data.current_period_end").Add(10 * time.Minute))
		drafts := list(s, s.Admin(), "invoices", "filter[tenant]", ada.Tenant, "filter[status]", "draft").Want(200)
		drafts.WantAt("data.0.number", "Draft").WantAt("data.0.amount_due.amount_cents", 0.0).WantAt("meta.totals", sums(1, 1900, 0))
		id := drafts.At("data.0.id")
		s.Advance(3 * time.Hour)
		wantColumn(t, list(s, s.Admin(), "invoices", "filter[tenant]", ada.Tenant, "filter[status]", "draft"), "id")
		paid := list(s, s.Admin(), "invoices", "filter[tenant]", ada.Tenant, "filter[status]", "paid").Want(200).WantAt("meta.totals", sums(2, 3800, 0))
		if got := paid.Column("id"); len(got) != 2 || got[0] != id {
			t.Errorf("%v", got)
		}
	})
}

// A purge removes the provider's invoices from the list and the search, but not the invoices of this
// service, which must be retained.
func TestInvoicesAfterAPurge(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]struct {
		options []apptest.Option
		rows    int
	}{"provider": {nil, 0}, "platform": {[]apptest.Option{apptest.WithPlatformInvoices}, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				ada := s.NewCustomer("ada")
				s.BuyPlan(ada.Owner, "starter")
				s.AwaitNotifications()
				number := list(s, s.Admin(), "invoices", "filter[tenant]", ada.Tenant).Want(200).Str("data.0.number")
				s.Cancel(ada.Owner, true).Want(200)
				s.Call("DELETE", ada.Path(""), ada.Token, object{"current_password": "correct horse"}).Want(204)
				s.Advance(11 * apptest.Day)
				apptest.Eventually(t, "the purge", func() bool {
					if s.CountRows("SELECT count(*) FROM tenants WHERE id = $1 AND emptied_at IS NOT NULL", ada.Tenant) == 1 {
						return true
					}
					s.Advance(11 * time.Minute)
					return false
				})
				a := list(s, s.Admin(), "invoices", "filter[number]", number, "filter[tenant]", ada.Tenant).Want(200).WantAt("meta.total", float64(mode.rows))
				if strings.Contains(a.Text, "Ada's Organization") {
					t.Errorf("the name of the tenant remains: %s", a.Text)
				}
				if found := titles(find(s, s.Admin(), across, number), "invoices"); len(found) != mode.rows {
					t.Errorf("the search finds %v", found)
				}
			}, append(mode.options, func(s *settings.Settings) { s.Retention.Tenants = 10 * apptest.Day })...)
		})
	}
}
