package app

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// later moves time on and logs the owner in again, whose token may have expired.
func (s *server) later(o *owner, email, by string) {
	s.t.Helper()
	s.call("POST", "/sandbox/clock", "", map[string]any{"advance": by}).want(200)
	o.token = s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": "correct horse"}).
		want(200).str("accessToken")
}

// figures fails the test unless credit, charge and net fit together; it returns net.
func (a reply) figures() float64 {
	a.t.Helper()
	credit, charge, net := a.want(200).at("data.credit.cents").(float64), a.at("data.charge.cents").(float64), a.at("data.net.cents").(float64)
	if credit < 0 || charge < 0 || net != charge-credit {
		a.t.Errorf("the figures don't fit: %s", a.text)
	}
	return net
}

func TestPreviewChange(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("pro", "flat", "month", 4900, 0, nil)
		s.sell("pro-yearly", "flat", "year", 49000, 0, nil)
		o := s.register("ada@example.com", true)
		s.preview(o, "pro", 0).want(404)
		s.call("GET", o.sub()+"/preview-change", o.token, nil).want(404)
		s.subscribe(o, "starter")
		s.call("GET", o.sub()+"/preview-change", o.token, nil).invalid("new_plan_id")
		s.call("GET", o.sub()+"/preview-change?new_plan_id=pro", o.token, nil).invalid("new_plan_id")
		s.call("GET", o.sub()+"/preview-change?new_plan_id=01990000-0000-7000-8000-000000000000", o.token, nil).invalid("new_plan_id")
		s.call("GET", o.sub()+"/preview-change?quantity=0&new_plan_id="+s.plan(o, "team"), o.token, nil).invalid("quantity")
		s.preview(o, "starter", 0).refused(422, "plan_change_error")
		s.preview(o, "scale", 0).refused(422, "plan_change_error")

		// Half of the period later, half of both plans.
		s.later(&o, "ada@example.com", "360h")
		a := s.preview(o, "pro", 0)
		net := a.figures()
		shown := s.subscription(o)
		start, end := shown.str("data.current_period_start")[:10], shown.str("data.current_period_end")[:10]
		for at, want := range map[string]any{
			"data.credit.currency": "EUR", "data.charge.currency": "EUR", "data.net.currency": "EUR",
			"data.breakdown.method": "psp_preview", "data.breakdown.currency": "EUR",
			"data.breakdown.period_start": start, "data.breakdown.period_end": end,
		} {
			if got := a.at(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		total, left := a.at("data.breakdown.total_days").(float64), a.at("data.breakdown.days_remaining").(float64)
		if total < 28 || total > 31 || left != total-15 {
			t.Errorf("%v of %v days are left", left, total)
		}
		if want := 3000 * left / total; net < want-2 || net > want+2 {
			t.Errorf("net is %v, want about %v", net, want)
		}
		// Another interval begins at once, and is paid in full.
		yearly := s.preview(o, "pro-yearly", 0)
		yearly.figures()
		if yearly.at("data.charge.cents") != 49000.0 || yearly.at("data.credit.cents") != a.at("data.credit.cents") {
			t.Errorf("yearly: %s, monthly: %s", yearly.text, a.text)
		}
		// What costs less is a credit.
		if net := s.preview(o, "free", 0).figures(); net >= 0 {
			t.Errorf("to the free plan: %v", net)
		}
		// Seats: as many as members, or as many as asked for.
		one, three := s.preview(o, "team", 0), s.preview(o, "team", 3)
		one.figures()
		three.figures()
		if one.at("data.charge.cents").(float64)*3-three.at("data.charge.cents").(float64) > 2 {
			t.Errorf("one seat: %s, three: %s", one.text, three.text)
		}
		// Nothing of all that has changed anything.
		if got := s.subscription(o); got.at("data.plan.name") != "Starter" || len(s.held(o, "invoice")) != 1 {
			t.Errorf("after previews: %s", got.text)
		}
		// Whoever may read the subscription may read what another plan would cost.
		member, _ := s.join(o, "Grace", "grace@example.com", "member")
		s.call("GET", o.sub()+"/preview-change?new_plan_id="+s.plan(o, "pro"), member, nil).want(200)
		s.call("GET", o.sub()+"/preview-change?quantity=1&new_plan_id="+s.plan(o, "team"), o.token, nil).invalid("quantity")
	})
}

// What a preview has shown is what is charged, to the cent, for a while after it.
func TestChangeCostsWhatWasShown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("huge", "flat", "month", 40_000_000, 0, nil) // 15 cents a second
		s.sell("huger", "flat", "month", 95_000_000, 0, nil)
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.later(&o, "ada@example.com", "100h")
		shown := s.preview(o, "huge", 0).figures()
		s.call("POST", "/sandbox/clock", "", map[string]any{"advance": "5m"}).want(200)
		a := s.changeTo(o, "huge", nil).want(200)
		for at, want := range map[string]any{
			"data.action": "updated", "data.subscription.status": "active", "data.subscription.plan.name": "huge",
			"data.subscription.price_cents": 40_000_000.0, "data.subscription.quantity": 1.0, "data.subscription.currency": "EUR",
			"data.checkout_url": nil, "data.session_id": nil,
		} {
			if got := a.at(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		invoices := s.held(o, "invoice")
		if len(invoices) != 2 || invoices[1].at("total") != shown || invoices[1].at("status") != "paid" {
			t.Fatalf("%d invoices, the last: %s; shown was %v", len(invoices), invoices[len(invoices)-1].text, shown)
		}
		if n := s.recorded(o, "subscription.plan_changed"); n != 1 {
			t.Errorf("%d changes in the trail", n)
		}
		// Later than that it costs what it costs then.
		shown = s.preview(o, "huger", 0).figures()
		s.later(&o, "ada@example.com", "16m")
		s.changeTo(o, "huger", nil).want(200)
		if invoices = s.held(o, "invoice"); len(invoices) != 3 || invoices[2].at("total").(float64) >= shown-1000 {
			t.Errorf("%d invoices, the last of %v; shown was %v", len(invoices), invoices[len(invoices)-1].at("total"), shown)
		}
	})
}

func TestChangePlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.changeTo(o, "team", nil).want(404)
		s.call("POST", o.sub()+"/change-plan", o.token, map[string]any{}).want(404)
		s.subscribe(o, "starter")
		before := s.subscription(o)
		member, _ := s.join(o, "Grace", "grace@example.com", "member")
		s.call("POST", o.sub()+"/change-plan", member, map[string]any{"new_plan_id": s.plan(o, "team")}).want(403)

		// To a seat plan: as many seats as members, unless more are asked for.
		s.changeTo(o, "team", map[string]any{"quantity": 1}).invalid("quantity")
		a := s.changeTo(o, "team", nil).want(200)
		for at, want := range map[string]any{
			"data.action": "updated", "data.subscription.id": before.at("data.id"), "data.subscription.quantity": 2.0,
			"data.subscription.price_cents": 1200.0, "data.subscription.trial_ends_at": nil, "data.subscription.plan.pricing_type": "seat",
		} {
			if got := a.at(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		limits := s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200)
		if !strings.Contains(limits.text, `"limit":50000`) {
			t.Errorf("entitlements: %s", limits.text)
		}
		// From paid to free, in place.
		free := s.changeTo(o, "free", map[string]any{"quantity": 7}).want(200)
		if free.at("data.subscription.price_cents") != 0.0 || free.at("data.subscription.quantity") != 1.0 ||
			free.at("data.subscription.id") != before.at("data.id") {
			t.Errorf("to free: %s", free.text)
		}
		if n := s.recorded(o, "subscription.plan_changed"); n != 2 {
			t.Errorf("%d changes in the trail", n)
		}
	})
}

func TestChangePlanRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("other", "flat", "month", 4900, 0, nil)
		s.sell("tiny", "flat", "month", 900, 0, map[string]int{"api-calls": 100, "team-members": 1})
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.call("POST", o.sub()+"/change-plan", o.token, map[string]any{}).invalid("new_plan_id")
		s.call("POST", o.sub()+"/change-plan", o.token, map[string]any{"new_plan_id": "team"}).invalid("new_plan_id")
		s.call("POST", o.sub()+"/change-plan", o.token, map[string]any{"new_plan_id": "01990000-0000-7000-8000-000000000000"}).invalid("new_plan_id")
		s.changeTo(o, "team", map[string]any{"quantity": 0}).invalid("quantity")
		s.changeTo(o, "team", map[string]any{"success_url": "/ok"}).invalid("success_url")
		s.changeTo(o, "starter", nil).refused(422, "plan_change_error")
		s.changeTo(o, "scale", nil).refused(422, "plan_change_error")
		// What is used counts against the target.
		s.call("POST", "/api/v1/tenant/"+o.tenant+"/usage", o.token, map[string]any{"meter_code": "api-calls", "quantity": 500}).want(201)
		s.join(o, "Grace", "grace@example.com", "member")
		a := s.changeTo(o, "tiny", nil)
		a.refused(422, "plan_change_error")
		if !strings.Contains(a.text, `"violations":[{"feature_code":"api-calls","current_usage":500,"plan_limit":100},{"feature_code":"team-members","current_usage":2,"plan_limit":1}]`) {
			t.Errorf("violations: %s", a.text)
		}
		// Billing details are needed here as well.
		s.call("PATCH", "/api/v1/tenant", o.token, map[string]any{"city": nil, "country": nil}).want(200)
		a = s.changeTo(o, "team", nil)
		a.refused(422, "billing_not_ready")
		if !strings.Contains(a.text, `"missing_fields":["city","country"]`) {
			t.Errorf("missing: %s", a.text)
		}
		s.call("PATCH", "/api/v1/tenant", o.token, map[string]any{"city": "Paris", "country": "FR"}).want(200)
		if a := s.subscription(o); a.at("data.plan.name") != "Starter" || len(s.held(o, "invoice")) != 1 {
			t.Errorf("after refusals: %s", a.text)
		}

		// The currency stays: other has none but EUR.
		usd := s.register("usd@example.com", true)
		page := s.call("POST", "/api/v1/tenant/"+usd.tenant+"/checkout", usd.token, map[string]any{
			"plan_id": s.plan(usd, "starter"), "currency": "USD", "success_url": "https://a.example/", "cancel_url": "https://a.example/",
		}).want(200).str("data.url")
		s.pay(page, goodCard).want(303)
		eventually(t, "the activation", func() bool { return s.subscription(usd).at("data.currency") == "USD" })
		s.changeTo(usd, "other", nil).refused(422, "plan_not_available_in_currency")
		s.preview(usd, "other", 0).refused(422, "plan_not_available_in_currency")

		// From a usage plan no way leads either.
		scaled := s.register("scaled@example.com", true)
		s.subscribe(scaled, "scale")
		s.changeTo(scaled, "starter", nil).refused(422, "plan_change_error")
	})
}

// A payment that is declined changes nothing, here and there; and a new attempt is
// one.
func TestChangeDeclined(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("pro", "flat", "month", 4900, 0, nil)
		o := s.register("ada@example.com", true)
		s.subscribeBy(o, "starter", lateCard)
		for range 2 {
			s.changeTo(o, "pro", nil).refused(422, "plan_change_error")
			if a := s.subscription(o); a.at("data.plan.name") != "Starter" || a.at("data.status") != "active" {
				t.Errorf("after a declined payment: %s", a.text)
			}
		}
		subs := s.held(o, "subscription")
		if len(subs) != 1 || subs[0].at("items.data.0.price.unit_amount") != 1900.0 {
			t.Errorf("at the provider: %s", subs[0].text)
		}
		if n := s.recorded(o, "subscription.plan_changed"); n != 0 {
			t.Errorf("%d changes in the trail", n)
		}
		s.call("POST", o.sub()+"/cancel", o.token, nil).want(200)
	})
}

// A change whose answer is lost, and that is made again, is made once.
func TestChangeOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	for name, chaos := range map[string]map[string]any{
		"took effect": {"fail_after": 1, "status": 0}, "did not": {"fail_before": 1, "status": 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *server) {
				s.sell("pro", "flat", "month", 4900, 0, nil)
				o := s.register("ada@example.com", true)
				s.subscribe(o, "starter")
				// The provider's price is made before, by a preview.
				shown := s.preview(o, "pro", 0).figures()
				s.chaos(map[string]any{"api": chaos, "webhooks": map[string]any{"drop": 1}})
				s.changeTo(o, "pro", nil).refused(502, "psp_error")
				if a := s.subscription(o); a.at("data.plan.name") != "Starter" {
					t.Errorf("after a failure: %s", a.text)
				}
				s.chaos(nil)
				a := s.whenBack(func() reply { return s.changeTo(o, "pro", nil) }).want(200)
				if a.at("data.subscription.price_cents") != 4900.0 {
					t.Errorf("repeated: %s", a.text)
				}
				invoices := s.held(o, "invoice")
				if len(invoices) != 2 || invoices[1].at("total") != shown {
					t.Errorf("%d invoices, the last: %s", len(invoices), invoices[len(invoices)-1].text)
				}
				if n := s.recorded(o, "subscription.plan_changed"); n != 1 {
					t.Errorf("%d changes in the trail", n)
				}
			})
		})
	}
}

// Of changes at the same time each is made whole and after the other, none twice:
// what was invoiced is what was answered.
func TestChangesAtTheSameTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		s.sell("pro", "flat", "month", 4900, 0, nil)
		s.sell("max", "flat", "month", 9900, 0, nil)
		for round := range dbtest.Rounds(2, 20) {
			o := s.register(fmt.Sprintf("ada%d@example.com", round), true)
			s.subscribe(o, "starter")
			slugs := []string{"pro", "max", "pro"}
			ids := []string{s.plan(o, "pro"), s.plan(o, "max"), s.plan(o, "pro")}
			replies := make([]reply, len(slugs))
			var wg sync.WaitGroup
			for i := range slugs {
				wg.Go(func() {
					replies[i] = s.call("POST", o.sub()+"/change-plan", o.token, map[string]any{"new_plan_id": ids[i]})
				})
			}
			wg.Wait()
			changed := 0
			for i, a := range replies {
				switch {
				case a.status == 200:
					changed++
				case a.status != 422 || a.at("code") != "plan_change_error":
					t.Errorf("to %s: %d %s", slugs[i], a.status, a.text)
				}
			}
			billed := 0
			for _, in := range s.held(o, "invoice")[1:] {
				if in.at("billing_reason") == "subscription_update" {
					billed++
				}
			}
			if changed == 0 || billed != changed {
				t.Errorf("%d changes were answered, %d were billed", changed, billed)
			}
			local, remote := s.subscription(o), s.held(o, "subscription")[0]
			if local.at("data.price_cents") != remote.at("items.data.0.price.unit_amount") {
				t.Errorf("here: %s\nthere: %s", local.text, remote.text)
			}
		}
	})
}

// A status that allows no change refuses a change by name; for everything else
// there is no running subscription.
func TestChangeByStatus(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.settled()
		db := dbtest.Open(t, s.database)
		set := func(status string) {
			t.Helper()
			_, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE subscriptions SET status = $1 WHERE tenant_id = $2`, status, o.tenant)
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, status := range []string{"unpaid", "paused", "incomplete"} {
			set(status)
			s.changeTo(o, "free", nil).refused(422, "subscription_cannot_be_upgraded")
			s.preview(o, "free", 0).want(404)
			s.call("GET", o.sub()+"/seats", o.token, nil).want(404)
			s.call("POST", o.sub()+"/cancel", o.token, nil).want(404)
			s.call("POST", o.sub()+"/resume", o.token, nil).want(404)
		}
		for _, status := range []string{"canceled", "incomplete_expired"} {
			set(status)
			s.changeTo(o, "free", nil).want(404)
		}
		for _, status := range []string{"trialing", "past_due"} {
			set(status)
			s.preview(o, "free", 0).want(200)
		}
		s.changeTo(o, "free", nil).want(200)
	})
}

// What the provider cannot compute or refuses to change is no fault of the
// provider's.
func TestChangeThatTheProviderRefuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.settled()
		remote := s.held(o, "subscription")[0].str("id")
		// Over at the provider, which has not told yet.
		_, err := s.sandbox().Conn(t.Context()).ExecContext(t.Context(),
			`UPDATE stripe_objects SET doc = json_set(doc, '$.status', 'canceled') WHERE id = $1`, remote)
		if err != nil {
			t.Fatal(err)
		}
		s.preview(o, "free", 0).refused(422, "proration_not_supported")
		s.changeTo(o, "free", nil).refused(422, "plan_change_error")
		if a := s.subscription(o); a.at("data.plan.name") != "Starter" {
			t.Errorf("after a refusal: %s", a.text)
		}
	})
}
