package stripe_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

const coverageFile = "dashboard/coverage.txt"

// TestCoverageIsAccurate sends each of Stripe's parameters to each endpoint and compares the
// accepted parameters with the coverage page. With TENANTRY_UPDATE=1 it writes the page's file.
func TestCoverageIsAccurate(t *testing.T) {
	t.Parallel()
	spec, err := published()
	if err != nil {
		t.Fatal(err)
	}
	a := newAsker(t)
	var lines []string
	for _, rt := range stripe.Endpoints() {
		item := specPath(spec, rt.Path)
		if strings.HasPrefix(rt.Path, "/v2/") { // the spec describes only v1
			lines = append(lines, rt.Method+" "+rt.Path)
			continue
		}
		if item == nil {
			t.Errorf("unknown path %s at Stripe", rt.Path)
			continue
		}
		operation := item.GetOperation(rt.Method)
		if operation == nil {
			t.Errorf("unknown operation %s %s at Stripe", rt.Method, rt.Path)
			continue
		}
		taken := slices.DeleteFunc(parametersOf(operation), func(name string) bool { return name == "expand" || !a.takes(rt.Method, rt.Path, name) })
		lines = append(lines, strings.Join(append([]string{rt.Method, rt.Path}, taken...), " "))
	}
	got := strings.Join(lines, "\n") + "\n"
	if os.Getenv("TENANTRY_UPDATE") != "" {
		if err := os.WriteFile(coverageFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(coverageFile)
	if err != nil || string(want) != got {
		t.Errorf("%s is out of date (%v): run this test with TENANTRY_UPDATE=1", coverageFile, err)
	}
}

// specPath returns the path in Stripe's spec that matches the pattern except for parameter names.
func specPath(spec *openapi3.T, pattern string) *openapi3.PathItem {
	want := strings.Split(pattern, "/")
	for path, item := range spec.Paths.Map() {
		parts := strings.Split(path, "/")
		if slices.EqualFunc(parts, want, func(a, b string) bool { return a == b || a != "" && b != "" && a[0] == '{' && b[0] == '{' }) {
			return item
		}
	}
	return nil
}

// parametersOf returns the query and body parameters of an operation, in order.
func parametersOf(o *openapi3.Operation) []string {
	var names []string
	for _, p := range o.Parameters {
		if p.Value.In == "query" {
			names = append(names, p.Value.Name)
		}
	}
	if o.RequestBody != nil {
		for _, content := range o.RequestBody.Value.Content {
			for name := range content.Schema.Value.Properties {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// asker sends requests with one parameter to a provider that has one object of each kind.
type asker struct {
	w        *stripetest.World
	ids      map[string]string // by list path
	required map[string]string // the required parameters of an endpoint
}

func newAsker(t *testing.T) *asker {
	t.Helper()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	sub := w.Subscribe(price, "pm_card_visa")
	customer := sub.At("customer")
	bill := w.Get("/v1/invoices/" + sub.At("latest_invoice") + "?expand[]=payments")
	intent := w.Get("/v1/payment_intents/" + bill.At("payments.data.0.payment.payment_intent"))
	w.Post("/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][quantity]=2")
	first := func(path string) string { return w.IDs(path)[0] }
	meter := w.Post("/v1/billing/meters", "display_name=Calls&event_name=calls&default_aggregation[formula]=sum").At("id")
	hook := w.Post("/v1/webhook_endpoints", "url=https%3A%2F%2Fa.test&enabled_events[]=*").At("id")
	a := &asker{w: w, ids: map[string]string{
		"/v1/customers": customer, "/v1/products": first("/v1/products"), "/v1/prices": price, "/v1/checkout/sessions": w.Checkout(price).At("id"),
		"/v1/subscriptions": sub.At("id"), "/v1/invoices": bill.At("id"), "/v1/invoiceitems": first("/v1/invoiceitems"),
		"/v1/invoice_payments": bill.At("payments.data.0.id"), "/v1/payment_intents": intent.At("id"), "/v1/charges": intent.At("latest_charge"),
		"/v1/payment_methods": first("/v1/payment_methods?customer=" + customer), "/v1/refunds": w.Post("/v1/refunds", "charge="+intent.At("latest_charge")+"&amount=1").At("id"),
		"/v1/billing/meters": meter, "/v1/events": first("/v1/events"), "/v1/webhook_endpoints": hook, "/v1/billing_portal/configurations": "bpc_sandbox",
		"/v1/test_helpers/test_clocks": w.Post("/v1/test_helpers/test_clocks", "frozen_time=1").At("id"),
		"/v1/credit_notes":             w.Post("/v1/credit_notes", "amount=1&out_of_band_amount=1&invoice="+bill.At("id")).At("id"),
	}}
	a.required = map[string]string{
		"POST /v1/credit_notes":                          "amount=1&out_of_band_amount=1&invoice=" + bill.At("id"),
		"GET /v1/credit_notes/preview":                   "amount=1&out_of_band_amount=1&invoice=" + bill.At("id"),
		"POST /v1/prices":                                "currency=eur&unit_amount=1&recurring[interval]=month&product=" + a.ids["/v1/products"],
		"POST /v1/products":                              "name=Starter",
		"POST /v1/checkout/sessions":                     "mode=subscription&success_url=https%3A%2F%2Fa.test&customer=" + customer + "&line_items[0][price]=" + price + "&line_items[0][quantity]=1",
		"POST /v1/subscriptions":                         "customer=" + customer + "&items[0][price]=" + price + "&items[0][quantity]=1",
		"POST /v1/subscription_schedules":                "from_subscription=" + sub.At("id"),
		"POST /v1/invoiceitems":                          "amount=1&currency=eur&customer=" + customer + "&subscription=" + sub.At("id"),
		"POST /v1/invoices/create_preview":               "subscription=" + sub.At("id"),
		"POST /v1/payment_methods/{id}/attach":           "customer=" + customer,
		"POST /v1/billing_portal/sessions":               "customer=" + customer,
		"POST /v1/refunds":                               "charge=" + intent.At("latest_charge"),
		"POST /v1/billing/meters":                        "display_name=Calls&event_name=other&default_aggregation[formula]=sum",
		"POST /v1/billing/meter_events":                  "event_name=calls&payload[stripe_customer_id]=" + customer + "&payload[value]=1",
		"GET /v1/billing/meters/{id}/event_summaries":    "customer=" + customer + "&start_time=0&end_time=60",
		"POST /v1/webhook_endpoints":                     "url=https%3A%2F%2Fa.test&enabled_events[]=*",
		"POST /v1/test_helpers/test_clocks":              "frozen_time=1",
		"POST /v1/test_helpers/test_clocks/{id}/advance": "frozen_time=2",
	}
	return a
}

// takes reports whether an endpoint accepts a parameter.
func (a *asker) takes(method, pattern, name string) bool {
	path := pattern
	if list, _, one := strings.Cut(pattern, "/{id}"); one {
		path = strings.Replace(pattern, "{id}", a.ids[list], 1)
	}
	var params []string
	for given := range strings.SplitSeq(a.required[method+" "+pattern], "&") {
		if given != "" && !strings.HasPrefix(given, name+"=") && !strings.HasPrefix(given, name+"[") {
			params = append(params, given)
		}
	}
	query := strings.Join(append(params, name+"=%20"), "&")
	answer := a.w.API(method, path+"?"+query, "")
	return !strings.Contains(answer.Body.String(), `"code":"parameter_unknown"`)
}
