package subscription

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// The invoice of a pending change is the invoice that was the latest when the change began.
func TestInvoiceOfPendingChange(t *testing.T) {
	t.Parallel()
	plan, other := uuid.New(), uuid.New()
	stored := &PendingChange{PlanID: plan, PSPPriceID: "price_1", PSPInvoiceID: "in_1", ExpiresAt: on(2)}
	for name, tt := range map[string]struct {
		requested uuid.UUID
		expires   time.Time
		invoice   string
		plan      uuid.UUID
	}{
		"another invoice follows":           {uuid.Nil, on(2), "in_1", plan},
		"another change, made by hand":      {uuid.Nil, on(3), "in_2", plan},
		"another change in the same second": {other, on(2), "in_2", other},
		"the same plan is requested again":  {plan, on(2), "in_2", plan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := psp.Subscription{LatestInvoiceID: "in_2", Pending: &psp.PendingChange{PriceID: "price_1", ExpiresAt: tt.expires}}
			if got := newPendingChange(remote, stored, tt.requested); got.PSPInvoiceID != tt.invoice || got.PlanID != tt.plan {
				t.Errorf("%+v", got)
			}
		})
	}
}
