package customers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
)

func TestCustomFields(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	field := func(i, name, value string) string {
		return "invoice_settings[custom_fields][" + i + "][name]=" + name + "&invoice_settings[custom_fields][" + i + "][value]=" + value
	}
	cu := w.Post("/v1/customers", field("0", "PO", "17")+"&"+field("1", "Unit", "B"))
	path := "/v1/customers/" + cu.At("id")
	cu.CheckValues(t, "created", "invoice_settings.custom_fields", `[{"name":"PO","value":"17"},{"name":"Unit","value":"B"}]`)
	w.Post(path, "name=Ada").CheckValues(t, "left alone", "invoice_settings.custom_fields.0.value", "17")
	w.Post(path, field("0", "PO", "18")).CheckValues(t, "replaced", "invoice_settings.custom_fields", `[{"name":"PO","value":"18"}]`)
	w.Post(path, "invoice_settings[custom_fields]=").CheckValues(t, "cleared", "invoice_settings.custom_fields", "null")
	w.CheckRefused(
		stripetest.Refusal{Name: "no value", Method: "POST", Path: path, Body: "invoice_settings[custom_fields][0][name]=PO", Code: "parameter_missing", Param: "invoice_settings[custom_fields][0][value]"},
		stripetest.Refusal{Name: "five", Method: "POST", Path: path, Body: strings.Join([]string{field("0", "a", "1"), field("1", "b", "1"), field("2", "c", "1"), field("3", "d", "1"), field("4", "e", "1")}, "&"), Param: "invoice_settings[custom_fields]"},
	)
}

func TestCustomersAreMerged(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	cu := w.Post("/v1/customers", "name=Ada&phone=1&metadata[a]=1&metadata[b]=2&address[city]=London&address[country]=GB&preferred_locales[0]=en")
	path := "/v1/customers/" + cu.At("id")
	for _, c := range []struct{ body, at, want string }{
		{"metadata[b]=&metadata[c]=3", "metadata", `{"a":"1","c":"3"}`},
		{"metadata=", "metadata", "{}"},
		{"phone=", "phone", "null"},
		{"address[city]=Paris", "address.city", "Paris"},
		{"preferred_locales=", "preferred_locales", "[]"},
		{"tax_exempt=reverse", "tax_exempt", "reverse"},
		{"", "name", "Ada"},
	} {
		w.Post(path, c.body).CheckValues(t, c.body, c.at, c.want)
	}
	events := w.Events(func() { w.Post(path, "name=Ada&tax_exempt=reverse") })
	if len(events) > 0 {
		t.Errorf("empty update emits %v", events)
	}
}

func TestCustomerRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	cu, gone := w.Customer(), w.Customer()
	other := w.Card(w.Customer(), "pm_card_visa")
	w.Delete("/v1/customers/"+gone).CheckValues(t, "deleted", "deleted", "true", "object", "customer", "id", gone)
	w.Get("/v1/customers/"+gone).CheckValues(t, "retrieved", "deleted", "true", "email", "null")
	path := "/v1/customers/" + cu
	w.CheckRefused(
		stripetest.Refusal{Name: "update of an unknown customer", Method: "POST", Path: "/v1/customers/cus_x", Body: "name=x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "delete of an unknown customer", Method: "DELETE", Path: "/v1/customers/cus_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "update of a deleted one", Method: "POST", Path: "/v1/customers/" + gone, Body: "name=x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "second delete", Method: "DELETE", Path: "/v1/customers/" + gone, Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "tax status", Method: "POST", Path: path, Body: "tax_exempt=maybe", Param: "tax_exempt"},
		stripetest.Refusal{Name: "unknown card", Method: "POST", Path: path, Body: "invoice_settings[default_payment_method]=pm_x", Code: "resource_missing", Param: "invoice_settings[default_payment_method]"},
		stripetest.Refusal{Name: "another's card", Method: "POST", Path: path, Body: "invoice_settings[default_payment_method]=" + other, Param: "invoice_settings[default_payment_method]"},
		stripetest.Refusal{Name: "a card at creation", Method: "POST", Path: "/v1/customers", Body: "invoice_settings[default_payment_method]=" + other, Code: "parameter_unknown", Param: "invoice_settings[default_payment_method]"},
	)
}

func TestPaymentMethods(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	cu := w.Post("/v1/customers", "email=ada%40example.test&address[city]=London").At("id")
	visa, late, other := w.Card(cu, "pm_card_visa"), w.Card(cu, "pm_card_chargeCustomerFail"), w.Customer()
	w.Get("/v1/payment_methods/"+visa).CheckValues(t, "card", "type", "card", "customer", cu, "card.brand", "visa", "card.last4", "4242",
		"card.exp_year", "2030", "billing_details.email", "ada@example.test", "billing_details.address.city", "London")
	for query, want := range map[string][]string{
		"customer=" + cu: {late, visa}, "customer=" + cu + "&type=card": {late, visa}, "customer=" + cu + "&type=sepa_debit": nil, "customer=" + other: nil,
	} {
		if diff := cmp.Diff(want, w.IDs("/v1/payment_methods?"+query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	w.Post("/v1/payment_methods/"+visa+"/attach", "customer="+cu).CheckValues(t, "attached again", "id", visa)
	// https://docs.stripe.com/api/payment_methods/update
	var changed stripetest.Object
	events := w.Events(func() {
		changed = w.Post("/v1/payment_methods/"+visa, "card[exp_month]=3&card[exp_year]=2031&metadata[a]=b")
	})
	changed.CheckValues(t, "changed", "card.exp_month", "3", "card.exp_year", "2031", "card.last4", "4242", "metadata.a", "b")
	if diff := cmp.Diff([]string{"payment_method.updated"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "expired", Method: "POST", Path: "/v1/payment_methods/" + visa, Body: "card[exp_year]=2020", Status: 402, Type: "card_error", Code: "invalid_expiry_year", Param: "exp_year"},
		stripetest.Refusal{Name: "month", Method: "POST", Path: "/v1/payment_methods/" + visa, Body: "card[exp_month]=13", Code: "parameter_invalid_integer", Param: "card[exp_month]"},
		stripetest.Refusal{Name: "another number", Method: "POST", Path: "/v1/payment_methods/" + visa, Body: "card[number]=4242424242424242", Code: "parameter_unknown", Param: "card[number]"},
		stripetest.Refusal{Name: "update of an unknown card", Method: "POST", Path: "/v1/payment_methods/pm_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "no customer", Method: "POST", Path: "/v1/payment_methods/pm_card_visa/attach", Code: "parameter_missing", Param: "customer"},
		stripetest.Refusal{Name: "unknown customer", Method: "POST", Path: "/v1/payment_methods/pm_card_visa/attach", Body: "customer=cus_x", Code: "resource_missing", Param: "customer"},
		stripetest.Refusal{Name: "unknown card", Method: "POST", Path: "/v1/payment_methods/pm_x/attach", Body: "customer=" + cu, Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "another's card", Method: "POST", Path: "/v1/payment_methods/" + visa + "/attach", Body: "customer=" + other},
		stripetest.Refusal{Name: "declined", Method: "POST", Path: "/v1/payment_methods/pm_card_visa_chargeDeclined/attach", Body: "customer=" + cu, Status: 402, Type: "card_error", Code: "card_declined"},
	)
}

func TestNumbersThatAreTyped(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"4242 4242 4242 4242":  "",
		"4242-4242-4242-4242":  "",
		"":                     "Enter a card number.",
		"4242 4242 4242 4241":  "This is not a valid card number. Use one of the test cards.",
		"42424242":             "This is not a valid card number. Use one of the test cards.",
		"4242 4242 4242 424x":  "This is not a valid card number. Use one of the test cards.",
		"42424242424242424242": "This is not a valid card number. Use one of the test cards.",
		"4000 0566 5566 5556":  "No real card is charged here. Use one of the test cards.",
	} {
		if _, problem := customers.ReadCard(typed); problem != want {
			t.Errorf("card %q: %q, want %q", typed, problem, want)
		}
	}
	for typed, want := range map[string]string{
		"de89 3704 0044 0532 0130 00":           "",
		"DE62370400440532013001":                "",
		"GB82 WEST 1234 5698 7654 32":           "No real account is debited here. Use one of the test accounts.",
		"DE89370400440532013009":                "This is not a valid IBAN. Use one of the test accounts.",
		"DE89370400440532013_00":                "This is not a valid IBAN. Use one of the test accounts.",
		"DE8937040044053201300é":                "This is not a valid IBAN. Use one of the test accounts.",
		"DE893704004405":                        "This is not a valid IBAN. Use one of the test accounts.",
		"DE89370400440532013000370400440532013": "This is not a valid IBAN. Use one of the test accounts.",
	} {
		if _, problem := customers.ReadIBAN(typed); problem != want {
			t.Errorf("account %q: %q, want %q", typed, problem, want)
		}
	}
}
