package blackbox_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// buysWith creates a buyer who pays for a plan in the given way.
func buysWith(s *apptest.Server, name, slug string, way url.Values) buyer {
	s.T.Helper()
	b := buyer{s.NewCustomer(name)}
	s.Submit(s.Checkout(b.Owner, slug), way).Want(303)
	apptest.Eventually(s.T, "the activation", func() bool { return s.Subscription(b.Owner).At("data.status") == "active" })
	s.AwaitNotifications()
	return b
}

// waits requests a plan and expects the change to be pending its confirmation. It returns the
// confirmation page and the provider's invoice.
func (b buyer) waits(slug string) (page, invoice string) {
	b.T.Helper()
	was := b.Subscription(b.Owner).At("data.plan.id")
	a := b.ChangePlan(b.Owner, slug, nil).Want(200).WantAt("data.action", "confirmation_required").
		WantAt("data.payment_action.type", "confirm").WantAt("data.checkout_url", nil)
	page = a.Str("data.payment_action.url")
	for at, shown := range map[string]apptest.Reply{"data.subscription": a, "data": b.Subscription(b.Owner)} {
		wantAll(shown, map[string]any{
			at + ".plan.id": was, at + ".status": "active", at + ".pending_change.plan.id": b.PlanID(b.Owner, slug),
			at + ".pending_change.payment_action.type": "confirm", at + ".pending_change.payment_action.url": page,
			at + ".payment_action.url": page,
		})
		if shown.At(at+".pending_change.plan.name") == nil {
			b.T.Errorf("pending plan lacks a name: %s", shown.Text)
		}
		expires, err := time.Parse(time.RFC3339Nano, shown.Str(at+".pending_change.expires_at"))
		if left := expires.Sub(b.Now()); err != nil || left < 22*time.Hour || left > 23*time.Hour+time.Minute {
			b.T.Errorf("it expires in %s: %v", left, err)
		}
	}
	all := b.invoices()
	last := all[len(all)-1]
	if last.At("status") != "open" || !strings.HasSuffix(page, last.Str("id")) {
		b.T.Fatalf("the page is %s, the last invoice %s", page, last.Text)
	}
	return page, last.Str("id")
}

// nothingWaits expects the plan, no pending change, and no open invoice.
func (b buyer) nothingWaits(plan any) {
	b.T.Helper()
	b.AwaitNotifications()
	if a := b.Subscription(b.Owner); a.At("data") != nil {
		wantAll(a, map[string]any{"data.plan.id": plan, "data.pending_change": nil, "data.payment_action": nil, "data.status": "active"})
	}
	for _, in := range b.invoices() {
		if in.At("status") == "open" {
			b.T.Errorf("open is %s", in.Text)
		}
	}
}

// A change that requires confirmation is made once it is confirmed, at the previewed cost.
func TestChangeWaitsForItsConfirmation(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		b := buysWith(s, "ada", "starter", apptest.Confirmation(apptest.CardConfirms))
		s.Advance(3 * time.Hour)
		b.LogInAgain()
		shown, before := b.sees("pro", 0), len(b.invoices())
		page, invoice := b.waits("pro")
		b.charged(before, shown)
		list := s.Call("GET", b.Path("/invoices"), b.Token, nil).Want(200)
		wantAll(list, map[string]any{"data.0.psp_invoice_id": invoice, "data.0.status": "open", "data.0.payment_action.type": "confirm"})
		if n := s.CountAudited(b.Owner, "subscription.plan_change_waits"); n != 1 {
			t.Errorf("%d changes that wait in the audit log", n)
		}
		// The plan is recognized by its former price.
		pro := s.PlanID(b.Owner, "pro")
		setPrice(s, "pro", 8000)
		s.Submit(page, apptest.Confirmation("")).Want(303)
		b.nothingWaits(pro)
		s.Subscription(b.Owner).WantAt("data.price_cents", 4900.0)
		if got := s.InvoiceStates(b.Owner)[invoice]; got != "paid" {
			t.Errorf("the invoice is %s", got)
		}
		if n := s.CountAudited(b.Owner, "subscription.plan_changed"); n != 1 {
			t.Errorf("%d changes in the audit log", n)
		}
		// The change is paid through the API with another card, and the provider's notifications are
		// lost.
		s.Chaos(apptest.ChaosNoWebhooks)
		_, invoice = b.waits("max")
		var id string
		for _, in := range s.Call("GET", b.Path("/invoices"), b.Token, nil).Want(200).At("data").([]any) {
			if in := in.(apptest.Object); in["psp_invoice_id"] == invoice {
				id = in["id"].(string)
			}
		}
		page = b.Call("POST", b.Path("/docs/billing/portal"), b.Token, nil).Want(200).Str("data.url")
		s.Submit(page+"/card", apptest.Card(apptest.CardPays)).Want(303)
		s.Call("POST", b.Path("/invoices/"+id+"/pay"), b.Token, nil).Want(200).WantAt("data.status", "paid")
		s.Subscription(b.Owner).WantAt("data.plan.id", s.PlanID(b.Owner, "max")).WantAt("data.pending_change", nil)
		s.Chaos(nil)
	})
}

// However a pending change ends, the old plan stays and nothing is owed for the change.
func TestChangeThatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		drop := func(b buyer) apptest.Reply {
			return s.Call("DELETE", b.Path("/subscription/pending-change"), b.Token, nil)
		}
		for name, end := range map[string]func(b buyer){
			"dropped": func(b buyer) {
				member, _ := s.Join(b.Owner, "Grace", "grace@example.com", "member")
				s.Call("DELETE", b.Path("/subscription/pending-change"), member, nil).Want(403)
				drop(b).Want(204)
				drop(b).Want(204)
				if n := s.CountAudited(b.Owner, "subscription.plan_change_dropped"); n != 1 {
					b.T.Errorf("%d in the audit log", n)
				}
			},
			"canceled":     func(b buyer) { s.Cancel(b.Owner, false).Want(200).WantAt("data.pending_change", nil) },
			"canceled-now": func(b buyer) { s.Cancel(b.Owner, true).Want(200).WantAt("data.pending_change", nil) },
			"replaced": func(b buyer) {
				b.waits("max")
				drop(b).Want(204)
			},
			"replaced-by-less": func(b buyer) {
				s.ChangePlan(b.Owner, "free", nil).Want(200).WantAt("data.action", "updated")
			},
		} {
			t.Run(name, func(t *testing.T) {
				b := buysWith(s, name, "starter", apptest.Confirmation(apptest.CardConfirms))
				plan := s.Subscription(b.Owner).At("data.plan.id")
				if name == "replaced-by-less" {
					plan = s.PlanID(b.Owner, "free")
				}
				_, invoice := b.waits("pro")
				end(b)
				b.nothingWaits(plan)
				if got := s.InvoiceStates(b.Owner)[invoice]; got != "void" {
					t.Errorf("its invoice is %s", got)
				}
			})
		}
		lapses, quiet := buysWith(s, "lapses", "starter", apptest.Confirmation(apptest.CardConfirms)), buysWith(s, "quiet", "starter", apptest.Confirmation(apptest.CardConfirms))
		plan := s.Subscription(quiet.Owner).At("data.plan.id")
		lapses.waits("pro")
		s.Advance(24 * time.Hour)
		lapses.LogInAgain()
		lapses.nothingWaits(plan)
		if n := s.CountAudited(lapses.Owner, "subscription.plan_change_lapsed"); n != 1 {
			t.Errorf("%d lapsed in the audit log", n)
		}
		// If no notification reports the end of a pending change, the change is hidden once it has
		// expired.
		quiet.LogInAgain()
		quiet.waits("pro")
		s.Chaos(apptest.ChaosNoWebhooks)
		s.Advance(24 * time.Hour)
		quiet.LogInAgain()
		s.Subscription(quiet.Owner).WantAt("data.pending_change", nil).WantAt("data.plan.id", plan)
		s.Chaos(nil)
		drop(buyer{s.NewCustomer("nothing")}).Want(204)
	})
}

// A change is never pending if the card is declined, if the tenant owes an amount, or if a bank account
// pays. With a bank account, it takes effect immediately.
func TestChangesThatDoNotWait(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		refused := buysWith(s, "refused", "starter", apptest.Card(apptest.CardFailsAtRenewal))
		plan := s.Subscription(refused.Owner).At("data.plan.id")
		s.ChangePlan(refused.Owner, "pro", nil).WantRefused(422, "plan_change_error")
		refused.nothingWaits(plan)

		debit := buysWith(s, "debit", "starter", apptest.Debit(apptest.DebitPays))
		s.ChangePlan(debit.Owner, "pro", nil).Want(200).WantAt("data.action", "updated").WantAt("data.subscription.pending_change", nil)

		owes := buysWith(s, "owes", "starter", apptest.Confirmation(apptest.CardConfirms))
		s.Advance(32 * apptest.Day)
		owes.LogInAgain()
		s.Subscription(owes.Owner).WantAt("data.status", "past_due").WantAt("data.payment_action.type", "confirm")
		before := len(owes.invoices())
		s.ChangePlan(owes.Owner, "pro", nil).WantRefused(422, "plan_change_error")
		if n := len(owes.invoices()); n != before {
			t.Errorf("rejected change created %d invoices", n-before)
		}
		owes.PayOpenInvoices(apptest.Confirmation(""))
		s.Subscription(owes.Owner).WantAt("data.status", "active").WantAt("data.payment_action", nil)
	})
}

// A change that replaces a pending one voids its invoice, which frees the customer's credit. The preview
// includes this credit, and exactly the amount that it shows is charged.
func TestPreviewIncludesTheCreditOfAPendingChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		b := buysWith(s, "ada", "starter", apptest.Confirmation(apptest.CardConfirms))
		s.Call("POST", "/api/v1/admin/tenants/"+b.Tenant+"/credit", s.Admin(), apptest.Object{
			"amount_cents": 400, "currency": "EUR", "reason": "Goodwill",
		}).Want(201)
		b.waits("pro")
		shown := s.PreviewChange(b.Owner, "max", 0).Want(200).WantAt("data.balance_applied.cents", 400.0)
		page, invoice := b.waits("max")
		s.Submit(page, apptest.Confirmation("")).Want(303)
		b.nothingWaits(s.PlanID(b.Owner, "max"))
		s.AtProvider("GET", "/invoices/"+invoice).WantAt("amount_paid", shown.At("data.due_now.cents"))
	})
}

// Changes of seats do not end a pending change. They are synced once it is over.
func TestSeatsWhileAChangeWaits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		b := buysWith(s, "ada", "crew", apptest.Confirmation(apptest.CardConfirms))
		b.waits("max")
		s.Join(b.Owner, "Grace", "grace@example.com", "member")
		s.AwaitNotifications()
		s.Subscription(b.Owner).WantAt("data.pending_change.plan.id", s.PlanID(b.Owner, "max")).WantAt("data.quantity", 1.0)
		s.Call("DELETE", b.Path("/subscription/pending-change"), b.Token, nil).Want(204)
		s.Advance(11 * time.Minute)
		b.LogInAgain()
		apptest.Eventually(t, "the seats", func() bool { return s.Subscription(b.Owner).At("data.quantity") == 2.0 })
	})
}

// A member who leaves during a pending change frees a seat, even if another change replaces the
// pending one and is dropped too. Once a change is made, the departures that its number of seats
// includes are settled.
func TestDeparturesWhileAChangeWaits(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("fleet", "seat", "month", 6000, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		s.AddPlan("pro", "flat", "month", 80000, 0, nil)
		b := buysWith(s, "ada", "crew", apptest.Confirmation(apptest.CardConfirms))
		leave := func(id int64) {
			t.Helper()
			s.Call("DELETE", b.Path("/team/members/")+apptest.IDText(float64(id)), b.Token, nil).Want(200)
		}
		_, grace := s.Join(b.Owner, "Grace", "grace@example.com", "member")
		_, mary := s.Join(b.Owner, "Mary", "mary@example.com", "member")
		followed(s)
		s.Subscription(b.Owner).WantAt("data.quantity", 3.0)
		b.waits("max")
		leave(grace)
		b.waits("pro")
		s.Call("DELETE", b.Path("/subscription/pending-change"), b.Token, nil).Want(204)
		s.Advance(11 * time.Minute)
		b.LogInAgain()
		followed(s)
		s.Subscription(b.Owner).WantAt("data.quantity", 2.0)

		// Seats that a change bought after a departure stay.
		b.waits("max")
		leave(mary)
		page := s.ChangePlan(b.Owner, "fleet", apptest.Object{"quantity": 4}).Want(200).WantAt("data.action", "confirmation_required").
			Str("data.payment_action.url")
		s.Submit(page, apptest.Confirmation("")).Want(303)
		b.nothingWaits(s.PlanID(b.Owner, "fleet"))
		s.Advance(11 * time.Minute)
		b.LogInAgain()
		followed(s)
		s.Subscription(b.Owner).WantAt("data.quantity", 4.0)
	})
}

// A pending change leads to the requested plan, even if another plan has the same price.
func TestChangeWaitsForAPriceOfSeveralPlans(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, price := k.CreateProduct("life"), s.NewProviderPrice("unit_amount", "4900")
		for _, slug := range []string{"older", "wanted", "newer"} {
			k.AdminCall("POST", "/plans/"+k.CreatePlan(product, slug)+"/prices/psp-import", apptest.Object{"psp_price_id": price}).Want(201)
		}
		b := buysWith(s, "ada", "starter", apptest.Confirmation(apptest.CardConfirms))
		page, _ := b.waits("wanted")
		s.AwaitNotifications()
		wanted := s.PlanID(b.Owner, "wanted")
		s.Subscription(b.Owner).WantAt("data.pending_change.plan.id", wanted)
		k.AdminCall("PUT", "/plans/"+wanted+"/prices", apptest.Object{"prices": []any{}}).Want(200)
		s.Submit(page, apptest.Confirmation("")).Want(303)
		b.nothingWaits(wanted)
	})
}
