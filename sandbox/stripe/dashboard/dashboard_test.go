package dashboard_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
	"github.com/tenantry/tenantry/sandbox/theme"
)

const path = "/sandbox/dashboard"

// page opens a page of the dashboard and checks its status. It also checks the properties of all
// pages: a policy without scripts, no external resources, and escaped text.
func page(t *testing.T, w *stripetest.World, at string, status int) string {
	t.Helper()
	got := w.Send("GET", path+at, "")
	body := got.Body.String()
	if got.Code != status {
		t.Fatalf("%s returns %d: %s", at, got.Code, body)
	}
	policy := got.Header().Get("Content-Security-Policy")
	if policy != theme.Policy("'self'") || strings.Count(body, "<script") != 1 {
		t.Errorf("%s: policy %s", at, policy)
	}
	for _, bad := range []string{"<script>", " style=", "<img", "<style", "@import", "url(", "ZgotmplZ", "<no value>", "%!"} {
		if strings.Contains(body, bad) {
			t.Errorf("%s has %q", at, bad)
		}
	}
	for _, reference := range regexp.MustCompile(`(?:href|action|src)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(reference[1], "/") && reference[1] != "#page" && reference[1] != "data:," {
			t.Errorf("%s links to %s", at, reference[1])
		}
	}
	if strings.Count(body, "<h1") != 1 || !strings.Contains(body, `aria-current="page"`) && status == http.StatusOK {
		t.Errorf("%s lacks a title or the current menu entry", at)
	}
	return body
}

// shows checks for parts of a page. A part with a minus prefix must be absent.
func shows(t *testing.T, at, body string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		text, absent := strings.CutPrefix(part, "-")
		if strings.Contains(body, text) == absent {
			t.Errorf("%s: %q is there: %v; after the styles: %.4000s", at, text, absent, body[strings.Index(body, "<body>"):])
		}
	}
}

// hooked configures a webhook endpoint to which nothing is delivered, because the provider does not
// run.
func hooked(c *stripe.Config) {
	c.WebhookURL, c.WebhookSecret = "http://service.example.test/hooks", "whsec_dashboard"
}

func TestTheOverviewOfNothing(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	shows(t, "overview", page(t, w, "", 200), `id="api">`+stripetest.Site+"/sandbox/stripe<", `id="key">sk_test_stripetest<`, "POST /v1/webhook_endpoints", `-id="secret"`,
		"curl "+stripetest.Site+"/sandbox/stripe/v1/customers \\\n  -u sk_test_stripetest: -d email=ada@example.test", "<pre>tenantry sandbox stripe</pre>", "-stripe.NewClient", "No upcoming events.", "No events yet.")
	for at, says := range map[string]string{"/customers": "No customers yet.", "/subscriptions": "No subscriptions.", "/invoices": "No invoices.", "/events": "No events yet."} {
		shows(t, at, page(t, w, at, 200), says)
	}
	for _, at := range []string{"/customers/cus_x", "/subscriptions/sub_x", "/invoices/in_x", "/events/evt_x"} {
		shows(t, at, page(t, w, at, 404), "This object does not exist or was deleted.")
	}
}

func TestTheOverview(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, hooked)
	price := w.Price(1000, "eur", "month")
	w.Subscribe(price, "pm_card_visa")
	w.Subscribe(price, "pm_card_chargeCustomerFail")
	body := page(t, w, "", 200)
	shows(t, "overview", body, `id="secret">whsec_dashboard<`, "http://service.example.test/hooks", "Billing period ends", "First payment expires", "in 23 h", `name="to" value="2026-03-02T09:00:00Z"`, "Ada Lovelace",
		"customer.subscription.created", "not delivered", `<a href="/sandbox/dashboard/invoices?status=open" class="bad"><b>1</b>`)
	numbers := regexp.MustCompile(`<b>(\d+)</b><span>([^<]+)`).FindAllStringSubmatch(body, -1)
	var got []string
	for _, n := range numbers[:3] {
		got = append(got, n[1]+" "+n[2])
	}
	if want := []string{"2 Customers", "1 Active subscriptions", "1 Open invoices"}; !slices.Equal(got, want) {
		t.Errorf("numbers: %v, want %v", got, want)
	}
}

func TestListsArePaged(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	for i := range 27 {
		w.Post("/v1/customers", fmt.Sprintf("name=Customer+%02d", i))
	}
	first := page(t, w, "/customers", 200)
	shows(t, "first", first, "Customer 26", "Customer 02", "-Customer 01", ">Older</a>")
	next := regexp.MustCompile(`href="/sandbox/dashboard(/customers\?before=[^"]+)"`).FindStringSubmatch(first)
	if next == nil {
		t.Fatal("no link to the next page")
	}
	shows(t, "second", page(t, w, next[1], 200), "Customer 01", "Customer 00", "-Customer 02", "-Older")
}

func TestListsAreFiltered(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, hooked)
	price := w.Price(1000, "eur", "month")
	paid := w.Subscribe(price, "pm_card_visa")
	open := w.Subscribe(price, "pm_card_chargeCustomerFail")
	shows(t, "active", page(t, w, "/subscriptions?status=active", 200), paid.At("id"), "-"+open.At("id"), `aria-current="true">Active`, "Starter", "10.00 EUR / month")
	shows(t, "all", page(t, w, "/subscriptions", 200), paid.At("id"), open.At("id"), `aria-current="true">All`, "Incomplete")
	shows(t, "open", page(t, w, "/invoices?status=open", 200), open.At("latest_invoice"), "-"+paid.At("latest_invoice"), "Payment failed", "First invoice", "€10.00")
	shows(t, "a type", page(t, w, "/events?type=invoice.paid", 200), "invoice.paid</a>", "-customer.created</a>", "Ada Lovelace")
	shows(t, "waiting", page(t, w, "/events?delivery=waiting", 200), "customer.created</a>", "not delivered", `aria-current="true">Waiting`)
	shows(t, "something else", page(t, w, `/invoices?status=%22%3E%3Cscript%3E`, 200), "No invoices.")
}

func TestACustomersPage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa", "metadata[plan]=team")
	customer := sub.At("customer")
	w.Post("/v1/customers/"+customer, "name=%3Cscript%3Ealert(1)%3C%2Fscript%3E&metadata[vip]=%3Cb%3Eyes")
	shows(t, "customer", page(t, w, "/customers/"+customer, 200), "&lt;script&gt;", "&lt;b&gt;yes", "Visa ending in 4242", "ada@example.test", "Starter", "€10.00", "Paid",
		"customer.subscription.created", "invoice.paid", `href="/sandbox/dashboard/subscriptions/`+sub.At("id")+`"`)
	shows(t, "list", page(t, w, "/customers", 200), "&lt;script&gt;", "Active")
	w.Delete("/v1/customers/" + customer)
	shows(t, "deleted", page(t, w, "/customers/"+customer, 200), "This customer was deleted.")
	shows(t, "list", page(t, w, "/customers", 200), "No customers yet.")
	shows(t, "its subscription", page(t, w, "/subscriptions/"+sub.At("id"), 200), "Canceled", "team")
}

func TestASubscriptionsPage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	at := "/subscriptions/" + sub.At("id")
	w.Post("/v1"+at, "cancel_at_period_end=true")
	shows(t, "ending", page(t, w, at, 200), "Starter", "ends 1 April 2026", "1 March 2026 – 1 April 2026", "&#34;cancel_at_period_end&#34;: true", "Ada Lovelace")
	w.Post("/v1"+at, "cancel_at_period_end=false")
	w.Post("/v1/subscriptions/"+sub.At("id"), "default_payment_method="+w.Post("/v1/payment_methods/pm_card_authenticationRequired/attach", "customer="+sub.At("customer")).At("id"))
	w.Post("/v1"+at, "items[0][id]="+sub.At("items.data.0.id")+"&items[0][quantity]=3&proration_behavior=always_invoice&payment_behavior=pending_if_incomplete")
	shows(t, "waiting", page(t, w, at, 200), "change pending", "Pending change expires", "in 23 h", "€20.00")
	w.Advance(40 * stripetest.Day)
	shows(t, "overdue", page(t, w, at, 200), "Past due")
	clock := w.Post("/v1/test_helpers/test_clocks", "frozen_time=1772359200").At("id")
	bound := w.Post("/v1/customers", "test_clock="+clock).At("id")
	shows(t, "on a test clock", page(t, w, "/customers/"+bound, 200), "Test clock", "<dt>Payment method</dt><dd>None</dd>")
}

func TestAnInvoicesPage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_chargeCustomerFail")
	at := "/invoices/" + sub.At("latest_invoice")
	shows(t, "open", page(t, w, at, 200), "Payment failed", "Open payment page", `href="/sandbox/invoices/`+sub.At("latest_invoice")+`"`, ">PDF</a>", "1 × Starter", "Lines, €10.00 total")
	card := w.Post("/v1/payment_methods/pm_card_visa/attach", "customer="+sub.At("customer")).At("id")
	w.Post("/v1"+at+"/pay", "payment_method="+card)
	shows(t, "paid", page(t, w, at, 200), "Paid", "-Open payment page", "invoice.paid")
	w.Advance(31*stripetest.Day + time.Minute)
	draft := w.IDs("/v1/invoices?status=draft")[0]
	shows(t, "draft", page(t, w, "/invoices/"+draft, 200), "Draft", "-PDF</a>")
}

// TestAnEventIsSentAgain resends an event from its page.
func TestAnEventIsSentAgain(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, hooked)
	customer := w.Customer()
	event := w.IDs("/v1/events")[0]
	queued := func() (n int) {
		t.Helper()
		if err := w.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM stripe_deliveries WHERE event = ?`, event).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	shows(t, "event", page(t, w, "/events/"+event, 200), "customer.created", "Ada Lovelace", "not delivered", "Pending deliveries", "http://service.example.test/hooks",
		`<form method="post" action="/sandbox/dashboard/events/`+event+`/resend">`, "&#34;id&#34;: &#34;"+customer)
	got := w.Form(path + "/events/" + event + "/resend")
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != path+"/events/"+event || queued() != 2 {
		t.Errorf("answered %d to %s, %d are queued", got.Code, got.Header().Get("Location"), queued())
	}
	if got := w.Form(path + "/events/evt_x/resend"); got.Code != http.StatusSeeOther {
		t.Errorf("an unknown event returns %d", got.Code)
	}
	// An endpoint that is not subscribed to the type receives nothing.
	w.Post("/v1/webhook_endpoints/we_sandbox", "enabled_events[]=invoice.paid&disabled=false")
	w.Form(path + "/events/" + event + "/resend")
	if queued() != 2 {
		t.Errorf("%d are queued", queued())
	}
	w.Post("/v1/webhook_endpoints/we_sandbox", "disabled=true")
	shows(t, "without a receiver", page(t, w, "/events/"+event, 200), "-Pending deliveries")
}

func TestTheCoveragePage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	body := page(t, w, "/coverage", 200)
	shows(t, "coverage", body, "Billing meters", "Webhook endpoints", "Differences from Stripe", "<code>/v1/test_helpers/test_clocks/{id}/advance</code>", "invoice_settings", "payment_behavior")
	for _, rt := range stripe.Endpoints() {
		if !strings.Contains(body, "<code>"+rt.Path+"</code>") {
			t.Errorf("%s %s is missing", rt.Method, rt.Path)
		}
	}
}
