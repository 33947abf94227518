package blackbox_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// contractPath is the admin path of a customer's subscriptions.
func contractPath(c *apptest.Customer) string {
	return "/api/v1/admin/tenants/" + c.Tenant + "/subscriptions"
}

// makeContract makes a subscription as an admin.
func makeContract(c *apptest.Customer, body apptest.Object) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", contractPath(c), c.Admin(), body)
}

// patchContract changes the customer's newest subscription as an admin.
func patchContract(c *apptest.Customer, body apptest.Object) apptest.Reply {
	c.T.Helper()
	return c.Call("PATCH", contractPath(c)+"/"+c.Subscriptions().Str("data.0.id"), c.Admin(), body)
}

// byInvoice returns the request for a subscription at 12.34 a month that is paid by invoice within 14
// days.
func byInvoice(plan string) apptest.Object {
	return apptest.Object{
		"plan_id": plan, "currency": "EUR", "price_cents": 1234, "collection": "invoice", "days_until_due": 14, "purchase_order": "PO 42",
	}
}

// newestInvoice returns the customer's newest invoice.
func newestInvoice(c *apptest.Customer) apptest.Reply {
	c.T.Helper()
	return c.Call("GET", c.Path("/invoices"), c.Token, nil).Want(200)
}

// markPaid marks the customer's newest invoice as paid.
func markPaid(c *apptest.Customer, body apptest.Object) apptest.Reply {
	c.T.Helper()
	id := newestInvoice(c).Str("data.0.id")
	return c.Call("POST", "/api/v1/admin/tenants/"+c.Tenant+"/invoices/"+id+"/mark-paid", c.Admin(), body)
}

// A subscription at a custom price that is paid by invoice is active immediately
// (rules: subscription#contracts). Its invoice is mailed once, with the PDF. The subscription is past
// due from the due time until the invoice is marked as paid.
func TestSubscriptionPaidByInvoice(t *testing.T) {
	t.Parallel()
	for mode, options := range map[string][]apptest.Option{"provider": nil, "platform": {apptest.WithPlatformInvoices}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, wantPaidByInvoice, options...)
		})
	}
}

func wantPaidByInvoice(t *testing.T, s *apptest.Server) {
	s.AvoidMidnight()
	plan := s.PlanID(s.NewCustomer("eve").Owner, "starter")
	ada := s.NewCustomer("ada")
	made := makeContract(ada, byInvoice(plan)).Want(http.StatusCreated)
	made.WantAt("data.status", "active").WantAt("data.collection", "invoice").WantAt("data.days_until_due", 14.0).
		WantAt("data.purchase_order", "PO 42").WantAt("data.custom_price", true).WantAt("data.price_cents", 1234.0).
		WantAt("data.plan.id", plan).WantAt("data.payment_action.type", "pay")
	ada.AwaitNotifications()
	in := newestInvoice(ada)
	in.WantAt("data.0.status", "open").WantAt("data.0.purchase_order", "PO 42").WantAt("data.0.total.amount_cents", 1234.0).
		WantAt("data.0.due_date", s.Now().AddDate(0, 0, 14).UTC().Format(time.DateOnly)).
		WantAt("data.0.payment_action.type", "pay").WantAt("data.0.paid_on", nil).WantAt("data.0.payment_reference", nil).
		WantAt("data.0.lines.0.plan_id", plan)
	number := in.Str("data.0.number")
	apptest.Eventually(t, "the mail of the invoice", func() bool { return countMails(s, billingEmail, "Invoice "+number) == 1 })
	for _, m := range s.Mails(billingEmail) {
		if !strings.Contains(m["subject"].(string), number) {
			continue
		}
		files, _ := m["attachments"].([]any)
		if len(files) != 1 || files[0].(apptest.Object)["content_type"] != "application/pdf" || !strings.Contains(m["text"].(string), in.Str("data.0.payment_action.url")) {
			t.Errorf("the mail: %v", m)
		}
	}
	if n := s.CountAudited(ada.Owner, "subscription.created"); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	reminders := func(want int) {
		t.Helper()
		apptest.Eventually(t, "the reminder", func() bool { return countMails(s, billingEmail, "Reminder: invoice "+number) == want })
	}
	s.Advance(11*apptest.Day + time.Hour)
	reminders(1)
	ada.LogInAgain()
	ada.WantStatus("active")
	s.Advance(3 * apptest.Day)
	ada.LogInAgain()
	ada.WantStatus("past_due")
	s.Advance(apptest.Day)
	reminders(2)
	ada.LogInAgain()
	markPaid(ada, apptest.Object{"paid_on": s.Now().AddDate(0, 0, 1).Format(time.DateOnly)}).WantInvalid("paid_on")
	paid := markPaid(ada, apptest.Object{"paid_on": "2026-01-02", "reference": "TR 7"}).Want(200)
	paid.WantAt("data.status", "paid").WantAt("data.paid_on", "2026-01-02").WantAt("data.payment_reference", "TR 7").
		WantAt("data.payment_action", nil)
	markPaid(ada, apptest.Object{}).WantRefused(http.StatusConflict, "invoice_not_payable")
	ada.WantStatus("active")
	ada.Subscription(ada.Owner).WantAt("data.payment_action", nil)
	if n := s.CountAudited(ada.Owner, "invoice.marked_paid"); n != 1 {
		t.Errorf("%d audit entries", n)
	}
	if n := len(ada.ProviderObjects(ada.Owner, "charge")); n != 0 {
		t.Errorf("%d charges", n)
	}
	s.Advance(7 * apptest.Day)
	ada.AwaitNotifications()
	if n := countMails(s, billingEmail, "Reminder: invoice "+number); n != 2 {
		t.Errorf("%d reminders of a paid invoice", n)
	}
}

// Without a saved card, the subscription is incomplete, the owner gets the link, and the subscription
// expires after 23 hours (rules: subscription#contracts).
func TestContractWithoutACard(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := s.PlanID(s.NewCustomer("eve").Owner, "starter")
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		body := apptest.Object{"plan_id": plan, "currency": "EUR"}
		made := makeContract(ada, body).Want(201)
		made.WantAt("data.status", "incomplete").WantAt("data.collection", "card").WantAt("data.days_until_due", nil).
			WantAt("data.custom_price", false).WantAt("data.payment_action.type", "pay")
		apptest.Eventually(t, "the mail to the owner", func() bool { return countMails(s, ada.Email, "Pay for the") == 1 })
		if n := countMails(s, billingEmail, "Pay for the"); n != 0 {
			t.Errorf("%d mails to the billing address", n)
		}
		makeContract(ada, body).WantRefused(422, "subscription_already_exists")
		s.Submit(made.Str("data.payment_action.url"), apptest.Card(apptest.CardPays)).Want(303)
		ada.AwaitNotifications()
		ada.WantStatus("active")
		makeContract(bob, body).Want(201).WantAt("data.status", "incomplete")
		s.Advance(23*time.Hour + time.Minute)
		bob.LogInAgain()
		bob.Subscriptions().WantAt("data.0.status", "incomplete_expired")
		makeContract(bob, apptest.WithChanges(body, apptest.Object{"price_cents": 0})).Want(201).
			WantAt("data.status", "active").WantAt("data.custom_price", true).WantAt("data.price_cents", 0.0)
	})
}

// A saved card is charged immediately, and a trial without a card is canceled at its end
// (rules: subscription#contracts).
func TestContractWithASavedCard(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		plan := s.PlanID(ada.Owner, "starter")
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		ada.Cancel(ada.Owner, true).Want(200)
		charges := len(ada.ProviderObjects(ada.Owner, "charge"))
		makeContract(ada, apptest.Object{"plan_id": plan, "currency": "EUR", "price_cents": 500}).Want(201).
			WantAt("data.status", "active").WantAt("data.price_cents", 500.0)
		if n := len(ada.ProviderObjects(ada.Owner, "charge")); n != charges+1 {
			t.Errorf("%d charges, want %d", n, charges+1)
		}
		makeContract(bob, apptest.Object{"plan_id": plan, "currency": "EUR", "trial_days": 10}).Want(201).WantAt("data.status", "trialing")
		s.Advance(10*apptest.Day + 2*time.Hour)
		bob.LogInAgain()
		bob.Subscriptions().WantAt("data.0.status", "canceled")
	})
}

// The platform changes the terms of payment and the seats (rules: subscription#contracts).
func TestContractIsChanged(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		s.AddPlan("crew", "seat", "month", 1500, 0, map[string]int{"team-members": 10})
		crew, starter := s.PlanID(ada.Owner, "crew"), s.PlanID(ada.Owner, "starter")
		makeContract(ada, apptest.WithChanges(byInvoice(crew), apptest.Object{"quantity": 2, "price_cents": 1000})).Want(201).WantAt("data.quantity", 2.0)
		ada.AwaitNotifications()
		patchContract(ada, apptest.Object{"quantity": 11}).WantInvalid("quantity")
		patchContract(ada, apptest.Object{"collection": "card"}).WantInvalid("collection")
		patchContract(ada, apptest.Object{"collection": nil}).WantInvalid("collection")
		patchContract(ada, apptest.Object{"days_until_due": 181}).WantInvalid("days_until_due")
		patchContract(ada, apptest.Object{"purchase_order": strings.Repeat("x", 141)}).WantInvalid("purchase_order")
		patchContract(ada, apptest.Object{"quantity": 4, "purchase_order": nil, "days_until_due": 7}).Want(200).
			WantAt("data.quantity", 4.0).WantAt("data.purchase_order", nil).WantAt("data.days_until_due", 7.0).WantAt("data.custom_price", true).
			WantAt("data.price_cents", 1000.0).WantAt("data.pending_change", nil)
		ada.AwaitNotifications()
		newestInvoice(ada).WantAt("data.0.status", "open").WantAt("data.0.total.amount_cents", 2000.0).
			WantAt("data.0.due_date", s.Now().AddDate(0, 0, 7).UTC().Format(time.DateOnly)).WantAt("data.0.purchase_order", nil)
		for action, want := range map[string]int{"subscription.updated": 1, "subscription.quantity_changed": 1} {
			if n := s.CountAudited(ada.Owner, action); n != want {
				t.Errorf("%d entries %s, want %d", n, action, want)
			}
		}
		bob.Buy(starter, "EUR", apptest.Card(apptest.CardPays))
		patchContract(bob, apptest.Object{"quantity": 2}).WantInvalid("quantity")
		patchContract(bob, apptest.Object{"collection": "invoice"}).Want(200).WantAt("data.collection", "invoice").WantAt("data.days_until_due", 30.0)
		patchContract(bob, apptest.Object{"collection": "card"}).Want(200).WantAt("data.collection", "card").WantAt("data.days_until_due", nil)
		bob.Cancel(bob.Owner, true).Want(200)
		patchContract(bob, apptest.Object{"purchase_order": "x"}).WantRefused(422, "subscription_cannot_be_upgraded")
		bob.Call("PATCH", contractPath(ada)+"/"+bob.Subscriptions().Str("data.0.id"), bob.Admin(), apptest.Object{"purchase_order": "x"}).WantRefused(404, "")
	})
}

// A change to another plan ends the custom price. A change of a subscription paid by invoice takes
// effect immediately (rules: subscription#contracts).
func TestPlanChangeEndsTheCustomPrice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		makeContract(ada, byInvoice(s.PlanID(ada.Owner, "starter"))).Want(201)
		s.ChangePlan(ada.Owner, "team", apptest.Object{"quantity": 1}).Want(200).
			WantAt("data.action", "updated").WantAt("data.subscription.custom_price", false).WantAt("data.subscription.status", "active")
		ada.AwaitNotifications()
		newestInvoice(ada).WantAt("data.0.status", "open")
	})
}

// Only one of several concurrent requests creates the subscription, and only one marks its invoice
// as paid. The same idempotency key returns the same subscription.
func TestConcurrentContracts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		plan, admin := s.PlanID(ada.Owner, "starter"), s.Admin()
		race := func(call func(i int) apptest.Reply) map[int]int {
			var all sync.WaitGroup
			statuses := make([]int, 5)
			for i := range statuses {
				all.Go(func() { statuses[i] = call(i).Status })
			}
			all.Wait()
			count := map[int]int{}
			for _, status := range statuses {
				count[status]++
			}
			return count
		}
		if got := race(func(i int) apptest.Reply {
			return ada.Call("POST", contractPath(ada), admin, apptest.WithChanges(byInvoice(plan), apptest.Object{"price_cents": 1000 + i}))
		}); got[201] != 1 || got[422] != 4 {
			t.Errorf("contracts: %v", got)
		}
		if n := len(ada.ProviderObjects(ada.Owner, "subscription")); n != 1 {
			t.Errorf("%d subscriptions", n)
		}
		ada.AwaitNotifications()
		id := newestInvoice(ada).Str("data.0.id")
		if got := race(func(int) apptest.Reply {
			return ada.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invoices/"+id+"/mark-paid", admin, apptest.Object{})
		}); got[200] != 1 || got[409] != 4 {
			t.Errorf("markings: %v", got)
		}
		if n := s.CountAudited(ada.Owner, "invoice.marked_paid"); n != 1 {
			t.Errorf("%d audit entries", n)
		}
	})
}

func TestContractRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		before := len(s.AllProviderObjects("subscription")) // of the demo data
		plan := s.PlanID(ada.Owner, "starter")
		for _, c := range []struct {
			change apptest.Object
			field  string
		}{
			{apptest.Object{"plan_id": apptest.NoSuchID}, "plan_id"},
			{apptest.Object{"currency": "XXX"}, "currency"},
			{apptest.Object{"price_cents": -1}, "price_cents"},
			{apptest.Object{"price_cents": 1.5}, "price_cents"},
			{apptest.Object{"collection": "post"}, "collection"},
			{apptest.Object{"days_until_due": 181}, "days_until_due"},
			{apptest.Object{"days_until_due": -1}, "days_until_due"},
			{apptest.Object{"trial_days": 731}, "trial_days"},
			{apptest.Object{"purchase_order": strings.Repeat("x", 141)}, "purchase_order"},
		} {
			makeContract(ada, apptest.WithChanges(byInvoice(plan), c.change)).WantInvalid(c.field)
		}
		s.Call("POST", "/api/v1/admin/tenants/"+apptest.NoSuchID+"/subscriptions", s.Admin(), byInvoice(plan)).WantRefused(404, "")
		ada.Call("POST", contractPath(ada), ada.Token, byInvoice(plan)).WantRefused(403, "")
		poor := s.Register("poor@example.com", false)
		s.Call("POST", "/api/v1/admin/tenants/"+poor.Tenant+"/subscriptions", s.Admin(), byInvoice(plan)).WantRefused(422, "billing_not_ready")
		if n := len(s.AllProviderObjects("subscription")); n != before {
			t.Errorf("%d subscriptions, want %d", n, before)
		}
	})
}

// Each field of the PATCH has its own permission, which is checked after the fields are validated.
func TestPermissionsOfFields(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		makeContract(ada, byInvoice(s.PlanID(ada.Owner, "starter"))).Want(201)
		admin := s.Admin()
		path := contractPath(ada) + "/" + ada.Subscriptions().Str("data.0.id")
		grant := func(permissions string) {
			apptest.Exec(t, s.DB(), "UPDATE users SET platform_permissions = $1 WHERE is_platform_admin", permissions)
		}
		terms, trial := apptest.Object{"purchase_order": "PO 43"}, apptest.Object{"trial_ends_at": "now"}
		grant(`["tenants.view"]`)
		s.Call("PATCH", path, admin, apptest.Object{"days_until_due": 181}).WantRefused(403, "")
		grant(`["tenants.manage"]`)
		s.Call("PATCH", path, admin, terms).WantRefused(403, "")
		s.Call("PATCH", path, admin, apptest.Object{"days_until_due": 181}).WantInvalid("days_until_due")
		s.Call("PATCH", path, admin, trial).WantRefused(409, "subscription_not_trialing")
		grant(`["subscriptions.manage"]`)
		s.Call("PATCH", path, admin, trial).WantRefused(403, "")
		s.Call("PATCH", path, admin, terms).Want(200).WantAt("data.purchase_order", "PO 43")
	})
}
