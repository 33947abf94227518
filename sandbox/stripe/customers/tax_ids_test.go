package customers_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// https://docs.stripe.com/api/tax_ids and https://docs.stripe.com/billing/customer/tax-ids.
func TestTaxIDs(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	path := "/v1/customers/" + w.Post("/v1/customers", "name=Ada").At("id") + "/tax_ids"
	created := w.Post(path, "type=eu_vat&value=FR83404833048")
	created.CheckValues(t, "created", "object", "tax_id", "country", "FR", "verification.status", "pending", "owner.type", "customer")
	w.Get(path+"/"+created.At("id")).CheckValues(t, "answered", "verification.status", "unverified")
	for value, want := range map[string]string{"000000000": "verified", "111111111": "unverified", "222222222": "pending"} {
		id := w.Post(path, "type=eu_vat&value="+value).At("id")
		w.Get(path+"/"+id).CheckValues(t, value, "verification.status", want)
		w.Delete(path + "/" + id)
	}
	events := w.Events(func() {
		answer := w.Send(http.MethodPut, "/sandbox/stripe/registry", `{"value": "fr 83.404.833-048", "status": "verified", "name": "Ada SARL"}`, "Content-Type", "application/json")
		if answer.Code != http.StatusOK {
			t.Fatalf("registry: %d %s", answer.Code, answer.Body)
		}
	})
	if !slices.Contains(events, "customer.tax_id.updated") {
		t.Errorf("the registry's answer is not announced: %v", events)
	}
	w.Get(path+"/"+created.At("id")).CheckValues(t, "registered", "verification.status", "verified", "verification.verified_name", "Ada SARL")
	w.CheckRefused(
		stripetest.Refusal{Name: "no value", Method: "POST", Path: path, Body: "type=eu_vat", Code: "parameter_missing", Param: "value"},
		stripetest.Refusal{Name: "unknown type", Method: "POST", Path: path, Body: "type=vat&value=FR83404833048", Param: "type"},
		stripetest.Refusal{Name: "wrong form", Method: "POST", Path: path, Body: "type=eu_vat&value=FR1", Code: "tax_id_invalid", Param: "value"},
		stripetest.Refusal{Name: "wrong type", Method: "POST", Path: path, Body: "type=gb_vat&value=FR83404833048", Code: "tax_id_invalid", Param: "value"},
	)
	for body, field := range map[string]string{`{"status": "verified"}`: "value", `{"value": "FR1", "status": "valid"}`: "status"} {
		if answer := w.Send(http.MethodPut, "/sandbox/stripe/registry", body, "Content-Type", "application/json"); answer.Code != http.StatusUnprocessableEntity {
			t.Errorf("a wrong %s: %d %s", field, answer.Code, answer.Body)
		}
	}
	w.Delete(path + "/" + created.At("id"))
	if left := w.IDs(path); len(left) != 0 {
		t.Errorf("deleted, but listed: %v", left)
	}
}
