package subscription

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
)

// asking is an operation that asks for a plan at any price, if for any.
type asking struct {
	Operations
	plan uuid.UUID
}

func (a asking) PlanAsked(context.Context, Subscription, string) (uuid.UUID, error) {
	return a.plan, nil
}

// The invoice of a change that waits is the one that was the latest when it began to.
func TestInvoiceOfAChangeThatWaits(t *testing.T) {
	t.Parallel()
	plan, other := uuid.New(), uuid.New()
	known := Subscription{Pending: &PendingChange{PlanID: plan, PSPPriceID: "price_1", PSPInvoiceID: "in_1", ExpiresAt: on(2)}}
	for name, tt := range map[string]struct {
		asked   uuid.UUID
		expires time.Time
		invoice string
		plan    uuid.UUID
	}{
		"another invoice follows":              {uuid.Nil, on(2), "in_1", plan},
		"another change, made by hand":         {uuid.Nil, on(3), "in_2", plan},
		"another change in the same second":    {other, on(2), "in_2", other},
		"the same plan is asked for once more": {plan, on(2), "in_2", plan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Service{deps: Deps{Operations: asking{plan: tt.asked}}}
			remote := psp.Subscription{LatestInvoiceID: "in_2", Pending: &psp.PendingChange{PriceID: "price_1", ExpiresAt: tt.expires}}
			got, err := s.pendingOf(t.Context(), remote, known)
			if err != nil || got.PSPInvoiceID != tt.invoice || got.PlanID != tt.plan {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
