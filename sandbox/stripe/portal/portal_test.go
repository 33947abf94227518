package portal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

const day = stripetest.Day

// open creates a portal session for a customer and returns the path of its page.
func open(w *stripetest.World, customer string) string {
	session := w.Post("/v1/billing_portal/sessions", "return_url=https%3A%2F%2Fapp.example.test%2Fbilling&customer="+customer)
	return strings.TrimPrefix(session.At("url"), stripetest.Site)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer, gone := w.Customer(), w.Customer()
	w.Delete("/v1/customers/" + gone)
	var session stripetest.Object
	events := w.Events(func() { session = w.Post("/v1/billing_portal/sessions", "locale=it&customer="+customer) })
	session.CheckValues(t, "created", "object", "billing_portal.session", "customer", customer, "locale", "it", "return_url", "null", "url", stripetest.Site+"/sandbox/portal/"+session.At("id"))
	if diff := cmp.Diff([]string{"billing_portal.session.created"}, events); diff != "" {
		t.Error(diff)
	}
	create := func(name, body, code, param string) stripetest.Refusal {
		return stripetest.Refusal{Name: name, Method: "POST", Path: "/v1/billing_portal/sessions", Body: body, Code: code, Param: param}
	}
	w.CheckRefused(
		create("no customer", "", "parameter_missing", "customer"),
		create("unknown customer", "customer=cus_x", "resource_missing", "customer"),
		create("deleted customer", "customer="+gone, "resource_missing", "customer"),
		create("return URL", "return_url=home&customer="+customer, "url_invalid", "return_url"),
		create("locale", "locale=tlh&customer="+customer, "", "locale"),
		create("flow", "flow_data[type]=subscription_cancel&customer="+customer, "", "flow_data[type]"),
	)
}

// TestForms submits the forms of a page in order.
func TestForms(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	ended := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	w.Delete("/v1/subscriptions/" + ended.At("id"))
	foreign := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	page := open(w, sub.At("customer"))
	for _, c := range []struct {
		name, action string
		field, value string
		status       int
		says         string // text of the response, or else of the page afterwards
		events       string
	}{
		{"cancel", "cancel", "subscription", sub.At("id"), 303, "Ends on 1 April 2026.", "customer.subscription.updated"},
		{"cancel again", "cancel", "subscription", sub.At("id"), 303, "Ends on 1 April 2026.", ""},
		{"resume", "resume", "subscription", sub.At("id"), 303, "Renews on 1 April 2026.", "customer.subscription.updated"},
		{"resume again", "resume", "subscription", sub.At("id"), 303, "Renews on 1 April 2026.", ""},
		{"cancel nothing", "cancel", "", "", 404, "This subscription does not exist", ""},
		{"cancel an unknown one", "cancel", "subscription", "sub_x", 404, "This subscription does not exist", ""},
		{"cancel another customer's", "cancel", "subscription", foreign.At("id"), 404, "This subscription does not exist", ""},
		{"resume another customer's", "resume", "subscription", foreign.At("id"), 404, "This subscription does not exist", ""},
		{"no card", "card", "card_number", "", 422, "Enter a card number.", ""},
		{"wrong card", "card", "card_number", "4242 4242 4242 4241", 422, "This is not a valid card number.", ""},
		{"declined card", "card", "card_number", "4000000000000002", 402, "Your card was declined.", ""},
		{"late card", "card", "card_number", "4000 0000 0000 0341", 303, "Visa ending in 0341", "payment_method.attached customer.updated customer.subscription.updated"},
		{"good card", "card", "card_number", "4242 4242 4242 4242", 303, "Visa ending in 4242", "payment_method.attached customer.updated customer.subscription.updated"},
	} {
		var status int
		var body, location string
		events := w.Events(func() {
			got := w.Form(page+"/"+c.action, c.field, c.value)
			status, body, location = got.Code, got.Body.String(), got.Header().Get("Location")
		})
		if status == http.StatusSeeOther {
			if location != page {
				t.Errorf("%s: redirected to %s", c.name, location)
			}
			body = w.Send("GET", location, "").Body.String()
		}
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: answered %d, want %d with %q: %s", c.name, status, c.status, c.says, body)
		}
		if diff := cmp.Diff(c.events, strings.Join(events, " ")); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", c.name, diff)
		}
	}
	if got := w.Form(open(w, ended.At("customer"))+"/resume", "subscription", ended.At("id")); got.Code != http.StatusNotFound {
		t.Errorf("resuming an ended subscription: status = %d, want 404", got.Code)
	}
	w.Get("/v1/subscriptions/"+foreign.At("id")).CheckValues(t, "the other customer's", "cancel_at_period_end", "false")
}

func TestAPageExpires(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	page := open(w, sub.At("customer"))
	w.Advance(time.Hour - time.Second)
	if got := w.Send("GET", page, ""); got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a second before: answered %d %v", got.Code, got.Header())
	}
	w.Advance(time.Second)
	for name, got := range map[string]int{
		"page": w.Send("GET", page, "").Code, "cancel": w.Form(page+"/cancel", "subscription", sub.At("id")).Code,
		"card": w.Form(page+"/card", "card_number", "4242424242424242").Code,
	} {
		if got != http.StatusGone {
			t.Errorf("%s: answered %d", name, got)
		}
	}
	w.Get("/v1/subscriptions/"+sub.At("id")).CheckValues(t, "afterwards", "cancel_at", "null")
	deleted := open(w, sub.At("customer"))
	w.Delete("/v1/customers/" + sub.At("customer"))
	for _, path := range []string{deleted, "/sandbox/portal/bps_x"} {
		if show, use := w.Send("GET", path, "").Code, w.Form(path+"/cancel", "subscription", sub.At("id")).Code; show != 404 || use != 404 {
			t.Errorf("%s: answered %d and %d", path, show, use)
		}
	}
}

// TestTheStatesThatAPageShows checks the page for subscriptions in different states.
func TestTheStatesThatAPageShows(t *testing.T) {
	t.Parallel()
	const visa, late = "pm_card_visa", "pm_card_chargeCustomerFail"
	for _, c := range []struct {
		name, card, params string
		wait               time.Duration
		cancel             bool
		says               []string
	}{
		{"active", visa, "", 0, false, []string{"Active", "1 March 2026 – 1 April 2026", "Renews on 1 April 2026.", "Paid", "Ada Lovelace"}},
		{"trial", visa, "trial_period_days=7", 0, false, []string{"Trialing", "Trial ends on 8 March 2026."}},
		{"incomplete", late, "", 0, false, []string{"Incomplete", ">Pay</a>"}},
		{"never paid", late, "", day, false, []string{"Expired", "Ended on 2 March 2026.", "Void"}},
		{"overdue", "", "trial_period_days=7", 8 * day, false, []string{"Past due", "Renews on 8 April 2026."}},
		{"paused", "", "trial_period_days=7&trial_settings[end_behavior][missing_payment_method]=pause", 8 * day, false, []string{"Paused"}},
		{"ended", visa, "", 0, true, []string{"Canceled", "Ended on 1 March 2026."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := stripetest.New(t)
			sub := w.Subscribe(w.Price(1000, "eur", "month"), c.card, c.params)
			w.Advance(c.wait)
			if c.cancel {
				w.Delete("/v1/subscriptions/" + sub.At("id"))
			}
			body := w.Send("GET", open(w, sub.At("customer")), "").Body.String()
			for _, part := range c.says {
				if !strings.Contains(body, part) {
					t.Errorf("the page lacks %q: %s", part, body)
				}
			}
		})
	}
}

// TestSeveralSubscriptionsOnOnePage checks that the newest subscription is first, and that each has
// its own forms.
func TestSeveralSubscriptionsOnOnePage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	customer := w.Post("/v1/customers", "email=nameless%40example.test").At("id")
	w.Card(customer, "pm_card_visa")
	var ids []string
	for range 2 {
		ids = append(ids, w.Post("/v1/subscriptions", "customer="+customer+"&items[0][price]="+price+"&items[0][quantity]=3").At("id"))
	}
	body := w.Send("GET", open(w, customer), "").Body.String()
	newest, oldest := strings.Index(body, ids[1]), strings.Index(body, ids[0])
	if newest < 0 || oldest < newest || !strings.Contains(body, "nameless@example.test") || !strings.Contains(body, `id="cancel-`+ids[0]+`"`) {
		t.Errorf("the page: %s", body)
	}
	unnamed := w.Post("/v1/customers", "").At("id")
	if body := w.Send("GET", open(w, unnamed), "").Body.String(); !strings.Contains(body, "Customer "+unnamed) {
		t.Errorf("page of a customer without a name: %s", body)
	}
}
