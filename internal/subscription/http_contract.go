package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type contractInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Body   struct {
		boughtPlan
		PriceCents    *int64  `json:"price_cents,omitempty" minimum:"0" maximum:"999999999999" doc:"Custom price per unit, in minor units. Default: the list price."`
		Collection    string  `json:"collection,omitempty" enum:"card,invoice" doc:"How invoices are paid: charged to the saved payment method (card), or sent to the customer (invoice). Default: card."`
		DaysUntilDue  *int64  `json:"days_until_due,omitempty" minimum:"0" maximum:"180" doc:"Number of days to pay a sent invoice. Default: 30. No effect with card."`
		TrialDays     int     `json:"trial_days,omitempty" minimum:"0" maximum:"730" doc:"Length of the trial. Default: 0. The plan's own trial does not apply."`
		PurchaseOrder *string `json:"purchase_order,omitempty" nullable:"true" maxLength:"140" doc:"The customer's purchase order, which appears on invoices."`
	}
}

func (in *contractInput) params() (contractRequest, error) {
	bought, err := in.Body.params()
	bought.CustomPrice = in.Body.PriceCents
	change := termsChange{purchaseOrder: in.Body.PurchaseOrder, daysUntilDue: in.Body.DaysUntilDue}
	if in.Body.Collection != "" {
		change.collection = &in.Body.Collection
	}
	return contractRequest{CheckoutParams: bought, TrialDays: in.Body.TrialDays, Terms: change.applyTo(Terms{Collection: collectCard})}, err
}

// CheckContract is the check that rest.Checks runs for CreateContract.
func (h *HTTP) CheckContract(ctx context.Context, in *contractInput) error {
	return in.Body.check(ctx, h.svc)
}

// CreateContract handles POST /admin/tenants/{tenant}/subscriptions.
func (h *HTTP) CreateContract(ctx context.Context, in *contractInput) (*rest.Data[*SubscriptionView], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	p, err := in.params()
	if err != nil {
		return nil, err
	}
	sub, err := h.svc.createContract(ctx, id, p)
	if err != nil {
		return nil, err
	}
	v, err := h.svc.platformView(ctx, sub)
	return rest.OK(v), err
}

type adminUpdateInput struct {
	Tenant       string `path:"tenant" format:"uuid"`
	Subscription string `path:"subscription" format:"uuid"`
	Body         struct {
		TrialEndsAt   *string           `json:"trial_ends_at,omitempty" maxLength:"64" doc:"New end of the trial: a time in the future, at most 730 days after the start of the subscription, or the word now. Requires tenants.manage."`
		Collection    *string           `json:"collection,omitempty" enum:"card,invoice" doc:"How later invoices are paid. card requires a saved payment method."`
		DaysUntilDue  *int64            `json:"days_until_due,omitempty" minimum:"0" maximum:"180" doc:"Number of days to pay a sent invoice. No effect with card."`
		PurchaseOrder shape.Opt[string] `json:"purchase_order,omitzero" nullable:"true" maxLength:"140" doc:"The customer's purchase order, which appears on later invoices. Null removes it."`
		PriceCents    shape.Opt[int64]  `json:"price_cents,omitzero" nullable:"true" minimum:"0" maximum:"999999999999" doc:"Custom price per unit from the next period on, in minor units. Null returns to the list price."`
		Quantity      *int64            `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats of a per-seat plan. The change takes effect and is invoiced immediately."`
	}
}

func (in *adminUpdateInput) patch() patch {
	p := patch{trialEnd: in.Body.TrialEndsAt, quantity: in.Body.Quantity}
	p.terms = termsChange{collection: in.Body.Collection, daysUntilDue: in.Body.DaysUntilDue}
	if in.Body.PurchaseOrder.Set {
		text := in.Body.PurchaseOrder.Value // empty for null
		p.terms.purchaseOrder = &text
	}
	if price := in.Body.PriceCents; price.Set {
		p.price = &pricePatch{}
		if !price.Null {
			p.price.custom = &price.Value
		}
	}
	return p
}

// CheckAdminUpdate is the check that rest.Checks runs for AdminUpdate.
func (h *HTTP) CheckAdminUpdate(_ context.Context, in *adminUpdateInput) error {
	_, err := h.svc.parseTrialEnd(in.Body.TrialEndsAt)
	return err
}

// AdminUpdate handles PATCH /admin/tenants/{tenant}/subscriptions/{subscription}.
func (h *HTTP) AdminUpdate(ctx context.Context, in *adminUpdateInput) (*rest.Data[*SubscriptionView], error) {
	tenantID, id, err := pathIDs(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	sub, err := h.svc.applyPatch(ctx, tenantID, id, in.patch())
	if err != nil {
		return nil, err
	}
	v, err := h.svc.platformView(ctx, sub)
	return rest.OK(v), err
}
