package compare_test

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp/compare"
)

// The lines match docs/subscriptions.md.
func ExampleDifference() {
	tenant := uuid.MustParse("01990000-0000-7000-8000-000000000001")
	for _, d := range []compare.Difference{
		{
			Of: compare.SubscriptionDifference, Kind: compare.KindDiffers, TenantID: tenant, PSPID: "sub_1Pq", Field: "status",
			Here: "active", There: "canceled", Repaired: true,
		},
		{Of: compare.InvoiceDifference, Kind: compare.KindMissingHere, TenantID: tenant, PSPID: "in_1Pr", Repaired: true},
		{Of: compare.InvoiceDifference, Kind: compare.KindDiffers, TenantID: tenant, PSPID: "in_1Ps", Field: "status", Here: "open", There: "paid", Repaired: true},
		{
			Of: compare.InvoiceDifference, Kind: compare.KindDiffers, TenantID: tenant, PSPID: "in_1Pt", Field: "total",
			Here: "1900", There: "2900", Reason: "an invoice that was issued is never changed",
		},
		{Of: compare.SubscriptionDifference, Kind: compare.KindNotTakenOver, TenantID: tenant, PSPID: "sub_1Pu", Field: "price", There: "price_1Pv"},
		{
			Of: compare.SubscriptionDifference, Kind: compare.KindUnknownTenant, TenantID: tenant, PSPID: "sub_1Pw", PSPCustomerID: "cus_1Px",
			Reason: "cancel and refund it in Stripe's dashboard, or create the customer again and import the subscription",
		},
	} {
		fmt.Println(d)
	}
	// Output:
	// differs: subscription sub_1Pq of tenant 01990000-0000-7000-8000-000000000001: status is active here, canceled there (repaired)
	// missing_here: invoice in_1Pr of tenant 01990000-0000-7000-8000-000000000001 (repaired)
	// differs: invoice in_1Ps of tenant 01990000-0000-7000-8000-000000000001: status is open here, paid there (repaired)
	// differs: invoice in_1Pt of tenant 01990000-0000-7000-8000-000000000001: total is 1900 here, 2900 there (not repaired: an invoice that was issued is never changed)
	// not_taken_over: subscription sub_1Pu of tenant 01990000-0000-7000-8000-000000000001: price is none here, price_1Pv there
	// unknown_tenant: subscription sub_1Pw of tenant 01990000-0000-7000-8000-000000000001 and customer cus_1Px (not repaired: cancel and refund it in Stripe's dashboard, or create the customer again and import the subscription)
}
