package customers_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// The balance of a customer is adjusted, and its currency is fixed while the balance is not zero.
func TestBalanceIsAdjusted(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer := w.Customer()
	path := "/v1/customers/" + customer
	w.Get(path+"?expand[]=invoice_credit_balance").CheckValues(t, "a new one", "balance", "0", "currency", "null", "invoice_credit_balance", "{}")
	w.Post(path+"/balance_transactions", "amount=-500&currency=eur&metadata[for]=a&description=Sorry").CheckValues(t, "a credit",
		"object", "customer_balance_transaction", "amount", "-500", "ending_balance", "-500", "currency", "eur", "customer", customer,
		"type", "adjustment", "metadata.for", "a", "description", "Sorry", "invoice", "null")
	w.Post(path+"/balance_transactions", "amount=200&currency=eur").CheckValues(t, "less of it", "ending_balance", "-300")
	w.Get(path+"?expand[]=invoice_credit_balance").CheckValues(t, "with credit", "balance", "-300", "currency", "eur", "invoice_credit_balance.eur", "300")
	if ids := w.IDs(path + "/balance_transactions"); len(ids) != 2 {
		t.Errorf("%d adjustments", len(ids))
	}
	if ids := w.IDs("/v1/customers/" + w.Customer() + "/balance_transactions"); len(ids) != 0 {
		t.Errorf("another customer has %d", len(ids))
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "another currency", Method: "POST", Path: path + "/balance_transactions", Body: "amount=-1&currency=usd", Param: "currency"},
		stripetest.Refusal{Name: "no amount", Method: "POST", Path: path + "/balance_transactions", Body: "currency=eur", Code: "parameter_missing", Param: "amount"},
		stripetest.Refusal{Name: "no customer", Method: "POST", Path: "/v1/customers/cus_none/balance_transactions", Body: "amount=-1&currency=eur", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "none to list", Method: "GET", Path: "/v1/customers/cus_none/balance_transactions", Status: 404, Code: "resource_missing", Param: "id"},
	)
	// If the balance is zero, the currency can change.
	w.Post(path+"/balance_transactions", "amount=300&currency=eur")
	w.Post(path+"/balance_transactions", "amount=-100&currency=usd")
	w.Get(path).CheckValues(t, "another currency", "balance", "-100", "currency", "usd")
}
