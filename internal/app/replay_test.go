package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The provider stores its first response to an idempotency key for a day, even a failure.
// Nevertheless, a repeated request succeeds and its write takes effect once, whether or not the
// provider executed the write before the failure.
func TestFailuresThatTheProviderKeeps(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		for name, verdict := range map[string]apptest.Verdict{"before": apptest.FailBefore, "after": apptest.FailAfter} {
			keptFailures(t, s, p, name, verdict)
		}
	})
}

// failing makes requests whose first attempt fails at the provider.
type failing struct {
	*apptest.Server
	p       *apptest.Proxy
	name    string
	verdict apptest.Verdict
}

// insist runs a request while each write to path fails, and again when writes succeed.
func (s failing) insist(path string, try func() apptest.Reply) apptest.Reply {
	s.T.Helper()
	s.p.Tamper(apptest.ForEndpoint(s.verdict, "POST", path))
	failed := try()
	s.p.Tamper(nil)
	if failed.Status == http.StatusOK { // the first attempt already found the object
		return failed
	}
	failed.As(s.name+" "+path).WantRefused(502, "psp_error")
	return try().As(s.name + " " + path + " again").Want(200)
}

func keptFailures(t *testing.T, s *apptest.Server, p *apptest.Proxy, name string, verdict apptest.Verdict) {
	f := failing{Server: s, p: p, name: name, verdict: verdict}
	f.changeSubscription(t)
	other, slug := f.createPrice(t)
	f.voidInvoice(t, other, slug)
	if log := s.Log(); strings.Contains(log, "check the settings or report a bug") {
		t.Errorf("%s: a repeated failure is logged as a defect", name)
	}
}

// changeSubscription opens a checkout for a new customer, changes the plan, cancels the
// subscription and resumes it.
func (s failing) changeSubscription(t *testing.T) {
	o, name, insist := s.Register("ada-"+s.name+"@example.com", true), s.name, s.insist
	checkout := func() apptest.Reply {
		return s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(o, "starter"), "currency": "EUR",
		}))
	}
	page := insist("/customers", checkout).Str("data.url")
	if n := len(s.ProviderObjects(o, "customer")); n != 1 {
		t.Errorf("%s: the provider has %d customers", name, n)
	}
	s.Submit(page, apptest.Card(apptest.CardPays)).Want(303)
	apptest.Eventually(t, "the subscription", func() bool { return s.Subscription(o).At("data.status") == "active" })

	insist("/subscriptions/", func() apptest.Reply { return s.ChangePlan(o, "team", apptest.Object{"quantity": 3}) })
	s.AwaitNotifications()
	if n := len(s.ProviderObjects(o, "invoice")); n != 2 {
		t.Errorf("%s: after one change there are %d invoices", name, n)
	}
	insist("/subscriptions/", func() apptest.Reply {
		return s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil)
	}).WantAt("data.cancel_at_period_end", true)
	insist("/subscriptions/", func() apptest.Reply {
		return s.Call("POST", o.Path("/subscription/resume"), o.Token, nil)
	}).WantAt("data.cancel_at_period_end", false)
}

// createPrice buys plans that lack a product or a price at the provider. It returns the last buyer
// and the slug of the plan.
func (s failing) createPrice(t *testing.T) (other apptest.Owner, slug string) {
	name, insist := s.name, s.insist
	slug = "kept-" + name
	s.AddPlan(slug, "flat", "month", 700, 0, nil)
	other = s.Register("bob-"+name+"@example.com", true)
	buy := func() apptest.Reply {
		return s.Call("POST", other.Path("/checkout"), other.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(other, slug), "currency": "EUR",
		}))
	}
	insist("/products", buy)
	other = s.Register("cy-"+name+"@example.com", true)
	s.AddPlan(slug+"-2", "flat", "month", 700, 0, nil)
	slug += "-2"
	insist("/prices", buy)
	plan := s.PlanID(other, slug)
	made := 0
	for _, price := range s.AllProviderObjects("price") {
		if price.At("metadata.plan_id") == plan {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%s: the provider has %d prices of the plan", name, made)
	}
	return other, slug
}

// voidInvoice voids an open invoice.
func (s failing) voidInvoice(t *testing.T, other apptest.Owner, slug string) {
	name := s.name
	s.BuyPlanWith(other, slug, apptest.CardFailsAtRenewal)
	s.Advance(40 * apptest.Day)
	other.Token = s.LogIn("cy-" + name + "@example.com")
	open := ""
	for _, in := range s.ProviderObjects(other, "invoice") {
		if in.At("status") == "open" {
			open = in.Str("id")
		}
	}
	if open == "" {
		t.Fatalf("%s: no open invoice", name)
	}
	id := ""
	for _, in := range s.Invoices(other, 2) {
		if in := in.(map[string]any); in["status"] == "open" {
			id = in["id"].(string)
		}
	}
	s.insist("/invoices/"+open+"/void", func() apptest.Reply {
		return s.Call("POST", "/api/v1/admin/tenants/"+other.Tenant+"/invoices/"+id+"/void", s.Admin(), nil)
	}).WantAt("data.status", "void")
}
