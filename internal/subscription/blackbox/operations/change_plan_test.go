package blackbox_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// advanceAndLogIn advances the clock and logs the owner in again, because the token may have
// expired.
func advanceAndLogIn(s *apptest.Server, o *apptest.Owner, email, by string) {
	s.T.Helper()
	s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": by}).Want(200)
	o.Token = s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": "correct horse"}).
		Want(200).Str("accessToken")
}

// wantAmounts fails the test unless net is charge minus credit. It returns net.
func wantAmounts(a apptest.Reply) float64 {
	a.T.Helper()
	credit, charge, net := a.Want(200).At("data.credit.cents").(float64), a.At("data.charge.cents").(float64), a.At("data.net.cents").(float64)
	if credit < 0 || charge < 0 || net != charge-credit {
		a.T.Errorf("the amounts don't fit: %s", a.Text)
	}
	return net
}

func TestPreviewChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("pro-yearly", "flat", "year", 49000, 0, nil)
		o := s.Register("ada@example.com", true)
		s.PreviewChange(o, "pro", 0).Want(404)
		s.Call("GET", o.Path("/subscription/preview-change"), o.Token, nil).Want(404)
		s.BuyPlan(o, "starter")
		s.Call("GET", o.Path("/subscription/preview-change"), o.Token, nil).WantInvalid("new_plan_id")
		s.Call("GET", o.Path("/subscription/preview-change?new_plan_id=pro"), o.Token, nil).WantInvalid("new_plan_id")
		s.Call("GET", o.Path("/subscription/preview-change?new_plan_id=01990000-0000-7000-8000-000000000000"), o.Token, nil).WantInvalid("new_plan_id")
		s.Call("GET", o.Path("/subscription/preview-change?quantity=0&new_plan_id=")+s.PlanID(o, "team"), o.Token, nil).WantInvalid("quantity")
		s.PreviewChange(o, "starter", 0).WantRefused(422, "plan_change_error")

		// After half of the period, half of both prices is prorated.
		advanceAndLogIn(s, &o, "ada@example.com", "360h")
		a := s.PreviewChange(o, "pro", 0)
		net := wantAmounts(a)
		shown := s.Subscription(o)
		start, end := shown.Str("data.current_period_start")[:10], shown.Str("data.current_period_end")[:10]
		for at, want := range map[string]any{
			"data.credit.currency": "EUR", "data.charge.currency": "EUR", "data.net.currency": "EUR",
			"data.breakdown.method": "psp_preview", "data.breakdown.currency": "EUR",
			"data.breakdown.period_start": start, "data.breakdown.period_end": end,
		} {
			if got := a.At(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		total, left := a.At("data.breakdown.total_days").(float64), a.At("data.breakdown.days_remaining").(float64)
		if total < 28 || total > 31 || left != total-15 {
			t.Errorf("%v of %v days are left", left, total)
		}
		if want := 3000 * left / total; net < want-2 || net > want+2 {
			t.Errorf("net is %v, want about %v", net, want)
		}
		// Another interval begins immediately and is charged in full.
		yearly := s.PreviewChange(o, "pro-yearly", 0)
		wantAmounts(yearly)
		if yearly.At("data.charge.cents") != 49000.0 || yearly.At("data.credit.cents") != a.At("data.credit.cents") {
			t.Errorf("yearly: %s, monthly: %s", yearly.Text, a.Text)
		}
		// A cheaper plan results in a credit.
		if net := wantAmounts(s.PreviewChange(o, "free", 0)); net >= 0 {
			t.Errorf("to the free plan: %v", net)
		}
		// A seat plan is priced for the number of members, or for the requested number.
		one, three := s.PreviewChange(o, "team", 0), s.PreviewChange(o, "team", 3)
		wantAmounts(one)
		wantAmounts(three)
		if one.At("data.charge.cents").(float64)*3-three.At("data.charge.cents").(float64) > 2 {
			t.Errorf("one seat: %s, three: %s", one.Text, three.Text)
		}
		// The previews have changed nothing.
		if got := s.Subscription(o); got.At("data.plan.name") != "Starter" || len(s.ProviderObjects(o, "invoice")) != 1 {
			t.Errorf("after previews: %s", got.Text)
		}
		// Any member who can read the subscription can preview a change.
		member, _ := s.Join(o, "Grace", "grace@example.com", "member")
		s.Call("GET", o.Path("/subscription/preview-change?new_plan_id=")+s.PlanID(o, "pro"), member, nil).Want(200)
		s.Call("GET", o.Path("/subscription/preview-change?quantity=1&new_plan_id=")+s.PlanID(o, "team"), o.Token, nil).WantInvalid("quantity")
	})
}

// For some time, a change charges exactly the previewed amounts.
func TestChangeCostsThePreviewedAmount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("huge", "flat", "month", 40_000_000, 0, nil) // 15 cents per second
		s.AddPlan("huger", "flat", "month", 95_000_000, 0, nil)
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		advanceAndLogIn(s, &o, "ada@example.com", "100h")
		shown := wantAmounts(s.PreviewChange(o, "huge", 0))
		s.Call("POST", "/sandbox/clock", "", map[string]any{"advance": "5m"}).Want(200)
		a := s.ChangePlan(o, "huge", nil).Want(200)
		for at, want := range map[string]any{
			"data.action": "updated", "data.subscription.status": "active", "data.subscription.plan.name": "huge",
			"data.subscription.price_cents": 40_000_000.0, "data.subscription.quantity": 1.0, "data.subscription.currency": "EUR",
			"data.checkout_url": nil, "data.session_id": nil,
		} {
			if got := a.At(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		invoices := s.ProviderObjects(o, "invoice")
		if len(invoices) != 2 || invoices[1].At("total") != shown || invoices[1].At("status") != "paid" {
			t.Fatalf("%d invoices, the last: %s, the preview was %v", len(invoices), invoices[len(invoices)-1].Text, shown)
		}
		if n := s.CountAudited(o, "subscription.plan_changed"); n != 1 {
			t.Errorf("%d changes in the audit log", n)
		}
		// After that, the current amounts are charged.
		shown = wantAmounts(s.PreviewChange(o, "huger", 0))
		advanceAndLogIn(s, &o, "ada@example.com", "16m")
		s.ChangePlan(o, "huger", nil).Want(200)
		if invoices = s.ProviderObjects(o, "invoice"); len(invoices) != 3 || invoices[2].At("total").(float64) >= shown-1000 {
			t.Errorf("%d invoices, the last of %v, the preview was %v", len(invoices), invoices[len(invoices)-1].At("total"), shown)
		}
	})
}

func TestChangePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.ChangePlan(o, "team", nil).Want(404)
		s.Call("POST", o.Path("/subscription/change-plan"), o.Token, map[string]any{}).Want(404)
		s.BuyPlan(o, "starter")
		before := s.Subscription(o)
		member, _ := s.Join(o, "Grace", "grace@example.com", "member")
		s.Call("POST", o.Path("/subscription/change-plan"), member, map[string]any{"new_plan_id": s.PlanID(o, "team")}).Want(403)

		// A change to a seat plan bills as many seats as members, unless more are requested.
		s.ChangePlan(o, "team", map[string]any{"quantity": 1}).WantInvalid("quantity")
		a := s.ChangePlan(o, "team", nil).Want(200)
		for at, want := range map[string]any{
			"data.action": "updated", "data.subscription.id": before.At("data.id"), "data.subscription.quantity": 2.0,
			"data.subscription.price_cents": 1200.0, "data.subscription.trial_ends_at": nil, "data.subscription.plan.pricing_type": "seat",
		} {
			if got := a.At(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		limits := s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200)
		if !strings.Contains(limits.Text, `"limit":50000`) {
			t.Errorf("entitlements: %s", limits.Text)
		}
		// A change from a paid plan to a free one keeps the subscription.
		free := s.ChangePlan(o, "free", map[string]any{"quantity": 7}).Want(200)
		if free.At("data.subscription.price_cents") != 0.0 || free.At("data.subscription.quantity") != 1.0 ||
			free.At("data.subscription.id") != before.At("data.id") {
			t.Errorf("to free: %s", free.Text)
		}
		if n := s.CountAudited(o, "subscription.plan_changed"); n != 2 {
			t.Errorf("%d changes in the audit log", n)
		}
	})
}

func TestChangePlanRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("other", "flat", "month", 4900, 0, nil)
		s.AddPlan("tiny", "flat", "month", 900, 0, map[string]int{"api-calls": 100, "team-members": 1})
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.Call("POST", o.Path("/subscription/change-plan"), o.Token, map[string]any{}).WantInvalid("new_plan_id")
		s.Call("POST", o.Path("/subscription/change-plan"), o.Token, map[string]any{"new_plan_id": "team"}).WantInvalid("new_plan_id")
		s.Call("POST", o.Path("/subscription/change-plan"), o.Token, map[string]any{"new_plan_id": "01990000-0000-7000-8000-000000000000"}).WantInvalid("new_plan_id")
		s.ChangePlan(o, "team", map[string]any{"quantity": 0}).WantInvalid("quantity")
		s.ChangePlan(o, "team", map[string]any{"success_url": "/ok"}).WantInvalid("success_url")
		s.ChangePlan(o, "starter", nil).WantRefused(422, "plan_change_error")
		// Usage counts against the quotas of the new plan.
		s.Call("POST", o.Path("/usage"), o.Token, map[string]any{"meter_code": "api-calls", "quantity": 500}).Want(201)
		s.Join(o, "Grace", "grace@example.com", "member")
		a := s.ChangePlan(o, "tiny", nil)
		a.WantRefused(422, "plan_change_error")
		if !strings.Contains(a.Text, `"violations":[{"feature_code":"api-calls","current_usage":500,"plan_limit":100},{"feature_code":"team-members","current_usage":2,"plan_limit":1}]`) {
			t.Errorf("violations: %s", a.Text)
		}
		// A change requires billing details, too.
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"city": nil, "country": nil}).Want(200)
		a = s.ChangePlan(o, "team", nil)
		a.WantRefused(422, "billing_not_ready")
		if !strings.Contains(a.Text, `"missing_fields":["city","country"]`) {
			t.Errorf("missing: %s", a.Text)
		}
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"city": "Paris", "country": "FR"}).Want(200)
		if a := s.Subscription(o); a.At("data.plan.name") != "Starter" || len(s.ProviderObjects(o, "invoice")) != 1 {
			t.Errorf("after refusals: %s", a.Text)
		}

		// The subscription keeps its currency, USD, but the plan named other has a price only in EUR.
		usd := s.Register("usd@example.com", true)
		page := s.Call("POST", usd.Path("/checkout"), usd.Token, map[string]any{
			"plan_id": s.PlanID(usd, "starter"), "currency": "USD", "success_url": "https://a.example/", "cancel_url": "https://a.example/",
		}).Want(200).Str("data.url")
		s.Pay(page, apptest.CardPays).Want(303)
		apptest.Eventually(t, "the activation", func() bool { return s.Subscription(usd).At("data.currency") == "USD" })
		s.ChangePlan(usd, "other", nil).WantRefused(422, "plan_not_available_in_currency")
		s.PreviewChange(usd, "other", 0).WantRefused(422, "plan_not_available_in_currency")
	})
}

// A declined payment changes nothing, neither here nor at the provider. A new attempt is a new
// write.
func TestChangeDeclined(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		o := s.Register("ada@example.com", true)
		s.BuyPlanWith(o, "starter", apptest.CardFailsAtRenewal)
		for range 2 {
			s.ChangePlan(o, "pro", nil).WantRefused(422, "plan_change_error")
			if a := s.Subscription(o); a.At("data.plan.name") != "Starter" || a.At("data.status") != "active" {
				t.Errorf("after a declined payment: %s", a.Text)
			}
		}
		subs := s.ProviderObjects(o, "subscription")
		if len(subs) != 1 || subs[0].At("items.data.0.price.unit_amount") != 1900.0 {
			t.Errorf("at the provider: %s", subs[0].Text)
		}
		if n := s.CountAudited(o, "subscription.plan_changed"); n != 0 {
			t.Errorf("%d changes in the audit log", n)
		}
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).Want(200)
	})
}

// A change that is retried after a lost response is made once.
func TestChangeOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, chaos := range map[string]map[string]any{
		"took effect": {"fail_after": 1, "status": 0}, "did not": {"fail_before": 1, "status": 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				s.AddPlan("pro", "flat", "month", 4900, 0, nil)
				o := s.Register("ada@example.com", true)
				s.BuyPlan(o, "starter")
				// A preview creates the provider's price first.
				shown := wantAmounts(s.PreviewChange(o, "pro", 0))
				s.Chaos(map[string]any{"api": chaos, "webhooks": map[string]any{"drop": 1}})
				s.ChangePlan(o, "pro", nil).WantRefused(502, "psp_error")
				if a := s.Subscription(o); a.At("data.plan.name") != "Starter" {
					t.Errorf("after a failure: %s", a.Text)
				}
				s.Chaos(nil)
				a := s.RetryWhileDown(func() apptest.Reply { return s.ChangePlan(o, "pro", nil) }).Want(200)
				if a.At("data.subscription.price_cents") != 4900.0 {
					t.Errorf("repeated: %s", a.Text)
				}
				invoices := s.ProviderObjects(o, "invoice")
				if len(invoices) != 2 || invoices[1].At("total") != shown {
					t.Errorf("%d invoices, the last: %s", len(invoices), invoices[len(invoices)-1].Text)
				}
				if n := s.CountAudited(o, "subscription.plan_changed"); n != 1 {
					t.Errorf("%d changes in the audit log", n)
				}
			})
		})
	}
}

// Concurrent changes are made completely, one after another, and none twice. The invoices match the
// responses.
func TestChangesAtTheSameTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("max", "flat", "month", 9900, 0, nil)
		for round := range dbtest.Rounds(2, 20) {
			o := s.Register(fmt.Sprintf("ada%d@example.com", round), true)
			s.BuyPlan(o, "starter")
			slugs := []string{"pro", "max", "pro"}
			ids := []string{s.PlanID(o, "pro"), s.PlanID(o, "max"), s.PlanID(o, "pro")}
			replies := make([]apptest.Reply, len(slugs))
			var wg sync.WaitGroup
			for i := range slugs {
				wg.Go(func() {
					replies[i] = s.Call("POST", o.Path("/subscription/change-plan"), o.Token, map[string]any{"new_plan_id": ids[i]})
				})
			}
			wg.Wait()
			changed := 0
			for i, a := range replies {
				switch {
				case a.Status == 200:
					changed++
				case a.Status != 422 || a.At("code") != "plan_change_error":
					t.Errorf("to %s: %d %s", slugs[i], a.Status, a.Text)
				}
			}
			billed := 0
			for _, in := range s.ProviderObjects(o, "invoice")[1:] {
				if in.At("billing_reason") == "subscription_update" {
					billed++
				}
			}
			if changed == 0 || billed != changed {
				t.Errorf("%d changes were answered, %d were billed", changed, billed)
			}
			local, remote := s.Subscription(o), s.ProviderObjects(o, "subscription")[0]
			if local.At("data.price_cents") != remote.At("items.data.0.price.unit_amount") {
				t.Errorf("here: %s\nthere: %s", local.Text, remote.Text)
			}
		}
	})
}

// If the status does not allow a change of plan, the change is rejected with an error code. Other
// operations return 404, because the subscription is not running.
func TestChangeByStatus(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		db := s.DB()
		set := func(status string) {
			t.Helper()
			_, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE subscriptions SET status = $1 WHERE tenant_id = $2`, status, o.Tenant)
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, status := range []string{"unpaid", "paused", "incomplete"} {
			set(status)
			s.ChangePlan(o, "free", nil).WantRefused(422, "subscription_cannot_be_upgraded")
			s.PreviewChange(o, "free", 0).Want(404)
			s.Call("GET", o.Path("/subscription/seats"), o.Token, nil).Want(404)
			s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).Want(404)
			s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).Want(404)
		}
		for _, status := range []string{"canceled", "incomplete_expired"} {
			set(status)
			s.ChangePlan(o, "free", nil).Want(404)
		}
		for _, status := range []string{"trialing", "past_due"} {
			set(status)
			s.PreviewChange(o, "free", 0).Want(200)
		}
		s.ChangePlan(o, "free", nil).Want(200)
	})
}

// If a subscription is over at the provider but no notification has arrived, a change detects that.
// It does not use the outdated state.
func TestChangeOfEndedSubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		remote := s.ProviderObjects(o, "subscription")[0].Str("id")
		_, err := s.SandboxDB().Conn(t.Context()).ExecContext(t.Context(),
			`UPDATE stripe_objects SET doc = json_set(doc, '$.status', 'canceled') WHERE id = $1`, remote)
		if err != nil {
			t.Fatal(err)
		}
		s.PreviewChange(o, "free", 0).Want(404)
		s.ChangePlan(o, "free", nil).Want(404)
		if a := s.Subscription(o); a.At("data") != nil {
			t.Errorf("%s still exists", a.Text)
		}
	})
}

// If a subscription ends with its trial, a change during the trial costs nothing, and nothing is billed
// later.
func TestPreviewBeforeTheEndWithATrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("tries", "flat", "month", 4900, 30, nil)
		s.AddPlan("years", "flat", "year", 49000, 0, nil)
		c := s.NewCustomer("ada")
		c.Buy(s.PlanID(c.Owner, "tries"), "EUR", apptest.Card(apptest.CardPays))
		s.Cancel(c.Owner, false).Want(200)
		if net := wantAmounts(s.PreviewChange(c.Owner, "years", 0)); net != 0 {
			t.Errorf("total = %v", net)
		}
		s.ChangePlan(c.Owner, "years", nil).Want(200).
			WantAt("data.subscription.status", "trialing").WantAt("data.subscription.cancel_at_period_end", true)
		if n := len(s.ProviderObjects(c.Owner, "invoice")); n != 1 {
			t.Errorf("%d invoices, want only the trial's invoice", n)
		}
	})
}
