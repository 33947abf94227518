package customers

import "github.com/tenantry/tenantry/sandbox/stripe/kernel"

// Routes returns the endpoints for customers, their balances, tax IDs and payment methods. When a
// customer is deleted, the functions of end remove their objects.
func Routes(end ...EndFunc) []kernel.Route {
	return []kernel.Route{
		{Method: "POST", Pattern: "/v1/customers", Run: createCustomer},
		{Method: "GET", Pattern: "/v1/customers", Run: listCustomers},
		{Method: "GET", Pattern: "/v1/customers/{id}", Run: getCustomer},
		{Method: "POST", Pattern: "/v1/customers/{id}", Run: updateCustomer},
		{Method: "DELETE", Pattern: "/v1/customers/{id}", Run: deleteCustomer(end...)},
		{Method: "POST", Pattern: "/v1/customers/{id}/balance_transactions", Run: createAdjustment},
		{Method: "GET", Pattern: "/v1/customers/{id}/balance_transactions", Run: listAdjustments},
		{Method: "POST", Pattern: "/v1/customers/{id}/tax_ids", Run: createTaxID},
		{Method: "GET", Pattern: "/v1/customers/{id}/tax_ids", Run: listTaxIDs},
		{Method: "GET", Pattern: "/v1/customers/{id}/tax_ids/{child}", Run: getTaxID},
		{Method: "DELETE", Pattern: "/v1/customers/{id}/tax_ids/{child}", Run: deleteTaxID},
		{Method: "GET", Pattern: "/v1/payment_methods", Run: listPaymentMethods},
		{Method: "GET", Pattern: "/v1/payment_methods/{id}", Run: getPaymentMethod},
		{Method: "POST", Pattern: "/v1/payment_methods/{id}", Run: updatePaymentMethod},
		{Method: "POST", Pattern: "/v1/payment_methods/{id}/attach", Run: attachPaymentMethod},
	}
}
