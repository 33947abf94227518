package stripe_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/sandbox/theme"
)

// portal opens the portal of a customer and returns the path of its page.
func (w *world) portal(customer string) string {
	w.t.Helper()
	session := must[*api.BillingPortalSession](w.t)(w.V1BillingPortalSessions.Create(w.t.Context(), &api.BillingPortalSessionCreateParams{
		Customer: &customer, ReturnURL: api.String("https://app.example.test/billing?a=1&b=2"),
	}))
	path, ok := strings.CutPrefix(session.URL, w.url)
	if !ok || path != "/sandbox/portal/"+session.ID || session.Customer != customer {
		w.t.Fatalf("session: %+v", session)
	}
	return path
}

// shows checks for parts of a page. A part with a minus prefix must be absent.
func (p page) shows(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		lacking, not := strings.CutPrefix(part, "-")
		if not == strings.Contains(p.body, lacking) {
			t.Errorf("%d; about %q:\n%s", p.status, part, p.body)
		}
	}
}

func TestPortalShowsSubscriptionsAndInvoices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(123450, "eur", "month"), 2)
	path := w.portal(sub.Customer.ID)
	got := w.open(http.MethodGet, path, nil)
	got.shows(t, "Ada Lovelace", `Starter × 2</dt><dd>€1,234.50 / month`, `<dd id="status">Active</dd>`, "31 January 2026 – 28 February 2026",
		"Renews on 28 February 2026.", `<form id="cancel" method="post" action="`+path+`/cancel">`, `value="`+sub.ID+`"`, "-id=\"resume\"",
		"Visa ending in 4242", `<form id="card" method="post" action="`+path+`/card">`, `<label for="card_number">`, `<ul class="rows" id="invoices">`,
		"31 January 2026 · Paid</small></div><span>€2,469.00</span>", `<a id="return" href="https://app.example.test/billing?a=1&amp;b=2">`,
		`<html lang="en">`, "-<script", "-style=")
	link := regexp.MustCompile(`<a href="([^"]+)">[^<]+-0001</a>`).FindStringSubmatch(got.body)
	if link == nil {
		t.Fatalf("no link to the invoice:\n%s", got.body)
	}
	file := strings.Replace(strings.TrimSuffix(strings.TrimPrefix(link[1], w.url), "/pdf"), "/invoices/", "/storage/", 1) + ".pdf"
	if pdf := w.open(http.MethodGet, file, nil); !strings.HasPrefix(pdf.body, "%PDF-") {
		t.Errorf("the invoice returns %d %.20s", pdf.status, pdf.body)
	}
	if policy := got.header.Get("Content-Security-Policy"); policy != theme.Policy("'self'") {
		t.Errorf("policy %q", policy)
	}
	w.open(http.MethodGet, w.portal(w.customer("new@example.test").ID), nil).shows(t, "No subscription.", "No card on file.", "No invoices yet.")
}

func TestPortalCancelsAndResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	path, form := w.portal(sub.Customer.ID), url.Values{"subscription": {sub.ID}}
	for range 2 { // submitting twice has one effect
		if got := w.open(http.MethodPost, path+"/cancel", form); got.status != http.StatusSeeOther || got.location != path {
			t.Fatalf("canceling returns %d to %q", got.status, got.location)
		}
	}
	if got := w.subscription(sub.ID); got.CancelAtPeriodEnd || got.CancelAt != sub.Items.Data[0].CurrentPeriodEnd || got.Status != "active" {
		t.Errorf("ending: %+v", got)
	}
	w.open(http.MethodGet, path, nil).shows(t, "Ends on 28 February 2026.", `<form id="resume"`, `-<form id="cancel"`)
	if got := w.open(http.MethodPost, path+"/resume", form); got.status != http.StatusSeeOther {
		t.Fatalf("resuming returns %d", got.status)
	}
	if got := w.subscription(sub.ID); got.CancelAtPeriodEnd || got.CancelAt != 0 {
		t.Errorf("resumed: %+v", got)
	}
	updates := 0
	for _, name := range w.eventTypes() {
		if name == "customer.subscription.updated" {
			updates++
		}
	}
	if updates != 2 {
		t.Errorf("there were %d updates", updates)
	}
	must[*api.Subscription](t)(w.V1Subscriptions.Cancel(t.Context(), sub.ID, nil))
	w.open(http.MethodGet, path, nil).shows(t, `<dd id="status">Canceled</dd>`, "Ended on 31 January 2026.", `-<form id="cancel"`, "-Current period")
	if got := w.open(http.MethodPost, path+"/cancel", form); got.status != http.StatusNotFound {
		t.Errorf("canceling an ended subscription: status = %d, want 404", got.status)
	}
}

func TestPortalKeepsCustomersApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, mine := w.bought(w.sold(1000, "eur", "month"), 1)
	_, other := w.bought(w.sold(2000, "eur", "month"), 1)
	path := w.portal(mine.Customer.ID)
	w.open(http.MethodGet, path, nil).shows(t, "-"+other.ID, "-€20.00")
	for _, id := range []string{other.ID, "sub_x", ""} {
		if got := w.open(http.MethodPost, path+"/cancel", url.Values{"subscription": {id}}); got.status != http.StatusNotFound {
			t.Errorf("canceling %q returns %d", id, got.status)
		}
	}
	if got := w.subscription(other.ID); got.CancelAt != 0 {
		t.Error("customer canceled another customer's subscription")
	}
}

func TestPortalChangesTheCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	w.pay(session.ID, "4000000000000341")
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(ctx, session.ID, nil))
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(ctx, session.Subscription.ID, nil))
	overdue := must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{
		ProrationBehavior: api.String("always_invoice"),
		Items:             []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Quantity: api.Int64(3)}},
	}))
	if overdue.Status != "past_due" {
		t.Fatalf("after a failing card: %s", overdue.Status)
	}
	path := w.portal(sub.Customer.ID)
	w.open(http.MethodGet, path, nil).shows(t, "Past due", ">Pay</a></li>", "ending in 0341")
	for number, c := range map[string]struct {
		status int
		says   string
	}{
		"4000 0000 0000 0002": {http.StatusPaymentRequired, "was declined"},
		"4242424242424241":    {http.StatusUnprocessableEntity, "not a valid card number"},
		"5555555555554444":    {http.StatusUnprocessableEntity, "No real card"},
		"":                    {http.StatusUnprocessableEntity, "Enter a card number"},
		`"><script>`:          {http.StatusUnprocessableEntity, "not a valid card number"},
	} {
		got := w.open(http.MethodPost, path+"/card", url.Values{"card_number": {number}})
		if got.status != c.status {
			t.Errorf("%s returns %d", number, got.status)
		}
		got.shows(t, c.says, `role="alert"`, `aria-invalid="true"`, "-<script", "ending in 0341")
	}
	if got := w.open(http.MethodPost, path+"/card", url.Values{"card_number": {"4242 4242 4242 4242"}}); got.status != http.StatusSeeOther || got.location != path {
		t.Fatalf("a card that pays returns %d", got.status)
	}
	w.open(http.MethodGet, path, nil).shows(t, "Past due", ">Pay</a></li>", "ending in 4242")
	w.payOpen(sub.Customer.ID)
	w.open(http.MethodGet, path, nil).shows(t, `<dd id="status">Active</dd>`, "->Pay</a>", "ending in 4242")
	paid := w.subscription(sub.ID)
	cu := must[*api.Customer](t)(w.V1Customers.Retrieve(ctx, sub.Customer.ID, nil))
	if paid.Status != "active" || paid.DefaultPaymentMethod.ID != cu.InvoiceSettings.DefaultPaymentMethod.ID || paid.DefaultPaymentMethod.ID == sub.DefaultPaymentMethod.ID {
		t.Errorf("paid: %s with %+v, customer %+v", paid.Status, paid.DefaultPaymentMethod, cu.InvoiceSettings)
	}
	for in, err := range w.V1Invoices.List(ctx, &api.InvoiceListParams{Customer: &cu.ID}).All(ctx) {
		if err != nil || in.Status != "paid" {
			t.Errorf("an invoice is %s (%v)", in.Status, err)
		}
	}
}

func TestPortalExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	path := w.portal(sub.Customer.ID)
	w.clock.Set(start.Add(time.Hour - time.Second))
	if got := w.open(http.MethodGet, path, nil); got.status != http.StatusOK {
		t.Errorf("within the hour: status %d", got.status)
	}
	w.clock.Set(start.Add(time.Hour))
	for _, c := range [][2]string{{http.MethodGet, ""}, {http.MethodPost, "/cancel"}, {http.MethodPost, "/card"}} {
		got := w.open(c[0], path+c[1], url.Values{"subscription": {sub.ID}, "card_number": {"4242424242424242"}})
		if got.status != http.StatusGone {
			t.Errorf("%v returns %d", c, got.status)
		}
		got.shows(t, "has expired", `id="return"`, "-Ada", "-<form")
	}
	if w.subscription(sub.ID).CancelAt != 0 {
		t.Error("expired link canceled the subscription")
	}
	fresh := w.portal(sub.Customer.ID)
	must[*api.Customer](t)(w.V1Customers.Delete(t.Context(), sub.Customer.ID, nil))
	for _, path := range []string{"/sandbox/portal/bps_x", fresh} {
		if got := w.open(http.MethodGet, path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s returns %d", path, got.status)
		}
		if got := w.open(http.MethodPost, path+"/cancel", url.Values{"subscription": {sub.ID}}); got.status != http.StatusNotFound {
			t.Errorf("a form of %s returns %d", path, got.status)
		}
	}
}

func TestPortalSessionsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cu := w.customer("ada@example.test").ID
	for body, c := range map[string][2]string{
		"return_url=https://app.example.test":                            {"parameter_missing", "customer"},
		"customer=cus_x":                                                 {"resource_missing", "customer"},
		"customer=" + cu + "&return_url=javascript:x":                    {"url_invalid", "return_url"},
		"customer=" + cu + "&return_url=/billing":                        {"url_invalid", "return_url"},
		"customer=" + cu + "&locale=tlh":                                 {"", "locale"},
		"customer=" + cu + "&configuration=bpc_x":                        {"parameter_unknown", "configuration"},
		"customer=" + cu + "&flow_data[type]=payment":                    {"", "flow_data[type]"},
		"customer=" + cu + "&flow_data[after_completion][type]=redirect": {"parameter_missing", "flow_data[type]"},
		"customer=" + cu + "&flow_data[type]=payment_method_update&flow_data[after_completion][type]=redirect":         {"parameter_missing", "flow_data[after_completion][redirect]"},
		"customer=" + cu + "&flow_data[type]=payment_method_update&flow_data[subscription_cancel][subscription]=sub_1": {"parameter_unknown", "flow_data[subscription_cancel]"},
		"customer=" + cu + "&on_behalf_of=acct_x": {"parameter_unknown", "on_behalf_of"},
	} {
		res, answer := w.call("POST", "/v1/billing_portal/sessions", body, nil)
		got := decode[struct{ Error struct{ Code, Param string } }](t, answer).Error
		if res.StatusCode != http.StatusBadRequest || got.Code != c[0] || got.Param != c[1] {
			t.Errorf("%s returns %d %s, want %v", body, res.StatusCode, answer, c)
		}
	}
}

// flow_data[type]=payment_method_update is described in
// https://docs.stripe.com/customer-management/portal-deep-links and in stripe-go's
// BillingPortalSessionCreateFlowDataParams.
func TestPortalFlowSetsThePaymentMethod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cu := w.customer("ada@example.test")
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), &api.SubscriptionCreateParams{
		Customer: &cu.ID, TrialPeriodDays: api.Int64(14),
		Items: []*api.SubscriptionCreateItemParams{{Price: &w.sold(1000, "eur", "month").ID, Quantity: api.Int64(1)}},
	}))
	const back = "https://app.example.test/billing"
	session := must[*api.BillingPortalSession](t)(w.V1BillingPortalSessions.Create(t.Context(), &api.BillingPortalSessionCreateParams{
		Customer: &cu.ID,
		FlowData: &api.BillingPortalSessionCreateFlowDataParams{
			Type: api.String("payment_method_update"),
			AfterCompletion: &api.BillingPortalSessionCreateFlowDataAfterCompletionParams{
				Type: api.String("redirect"), Redirect: &api.BillingPortalSessionCreateFlowDataAfterCompletionRedirectParams{ReturnURL: api.String(back)},
			},
		},
	}))
	if session.Flow == nil || session.Flow.Type != "payment_method_update" || session.Flow.AfterCompletion.Redirect.ReturnURL != back {
		t.Fatalf("flow: %+v", session.Flow)
	}
	path := strings.TrimPrefix(session.URL, w.url)
	shown := w.open(http.MethodGet, path, nil)
	shown.shows(t, `<form id="card"`, `-<form id="cancel"`, `-No invoices yet.`)
	if policy := shown.header.Get("Content-Security-Policy"); policy != theme.Policy("'self' https://app.example.test") {
		t.Errorf("policy %q", policy)
	}
	if got := w.open(http.MethodPost, path+"/card", url.Values{"card_number": {"4000000000000002"}}); got.status != http.StatusPaymentRequired {
		t.Errorf("a declined card returns %d", got.status)
	}
	if got := w.open(http.MethodPost, path+"/card", url.Values{"card_number": {"4242424242424242"}}); got.status != http.StatusSeeOther || got.location != back {
		t.Errorf("the card returns %d to %q", got.status, got.location)
	}
	if got := w.subscription(sub.ID); got.DefaultPaymentMethod == nil {
		t.Error("subscription lacks a payment method")
	}
}
