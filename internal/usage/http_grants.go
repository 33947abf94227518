package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// GrantView is a grant as the API shows it.
type GrantView struct {
	ID          uuid.UUID           `json:"id"`
	FeatureCode string              `json:"feature_code"`
	Amount      shape.Total         `json:"amount"`
	Remaining   shape.Total         `json:"remaining" doc:"The units that are left; 0 once the grant has expired or was refunded."`
	StartsAt    shape.Time          `json:"starts_at" doc:"When usage can draw from the grant."`
	ExpiresAt   *shape.Time         `json:"expires_at" doc:"Time at which the units expire, in UTC. Null for never."`
	Priority    int32               `json:"priority" doc:"Usage draws from the lowest number first, then from the grant that expires first."`
	Source      string              `json:"source" enum:"admin,purchase" doc:"Whether an admin granted the units or the organization bought them."`
	Reason      *string             `json:"reason"`
	Pack        *string             `json:"pack" doc:"The slug of the purchased pack; null unless the source is purchase."`
	InvoiceID   *uuid.UUID          `json:"invoice_id" doc:"The invoice of the purchase; null unless the source is purchase."`
	By          *authz.ChangeAuthor `json:"by" doc:"The user or API key that granted the units. Null for a purchase."`
	UsedUpAt    *shape.Time         `json:"used_up_at" doc:"When nothing was left. Null before, and if the rest expired or was refunded."`
	CreatedAt   shape.Time          `json:"created_at"`
}

func viewOfGrant(g grant, now time.Time, forPlatform bool) GrantView {
	return GrantView{
		ID: g.id, FeatureCode: g.featureCode, Amount: shapeTotal(g.amount), Remaining: shapeTotal(g.remainingUnits(now)),
		StartsAt: shape.T(g.startsAt), ExpiresAt: shape.TP(g.expiresAt), Priority: g.priority, Source: g.source,
		Reason: g.reason, Pack: g.pack, InvoiceID: g.invoiceID, By: g.by.Author(forPlatform), UsedUpAt: shape.TP(g.usedUpAt),
		CreatedAt: shape.T(g.createdAt),
	}
}

func (h *HTTP) listGrants(ctx context.Context, tenantID uuid.UUID, forPlatform bool) (*rest.Data[[]GrantView], error) {
	grants, err := h.svc.store.grants(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	now, views := h.svc.clock.Now(), make([]GrantView, len(grants))
	for i, g := range grants {
		views[i] = viewOfGrant(g, now, forPlatform)
	}
	return rest.OK(views), nil
}

// Grants handles GET /grants of a tenant.
func (h *HTTP) Grants(ctx context.Context, _ *tenantInput) (*rest.Data[[]GrantView], error) {
	return h.listGrants(ctx, authz.TenantID(ctx), false)
}

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminGrants handles GET /admin/tenants/{tenant}/grants.
func (h *HTTP) AdminGrants(ctx context.Context, in *adminTenantInput) (*rest.Data[[]GrantView], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.listGrants(ctx, id, true)
}

type grantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Body   struct {
		FeatureCode string         `json:"feature_code" minLength:"1" maxLength:"255" doc:"The code of a meter that adds up or counts its events."`
		Amount      shape.Quantity `json:"amount" exclusiveMinimum:"0" doc:"Number of units, above 0, with at most six decimals."`
		StartsAt    *shape.Time    `json:"starts_at,omitempty" doc:"Time from which the units can be used. Defaults to now."`
		ExpiresAt   *shape.Time    `json:"expires_at,omitempty" nullable:"true" doc:"Time at which the units expire. Must be in the future and after starts_at. Null for never."`
		Priority    *int32         `json:"priority,omitempty" minimum:"0" maximum:"100" doc:"Order of use: the grant with the lowest number is used first. Default: 50."`
		Reason      *string        `json:"reason,omitempty" nullable:"true" format:"multiline" maxLength:"500"`
	}
}

func (in *grantInput) grant() grant {
	b := in.Body
	g := grant{featureCode: b.FeatureCode, amount: money.TotalOf(b.Amount.Quantity), priority: defaultPriority, reason: b.Reason}
	g.rest = g.amount
	if b.StartsAt != nil {
		g.startsAt = b.StartsAt.Std().UTC().Truncate(time.Microsecond)
	}
	if b.ExpiresAt != nil {
		at := b.ExpiresAt.Std().UTC().Truncate(time.Microsecond)
		g.expiresAt = &at
	}
	if b.Priority != nil {
		g.priority = *b.Priority
	}
	return g
}

// CheckGrant is the check that rest.Checks runs for CreateGrant.
func (h *HTTP) CheckGrant(ctx context.Context, in *grantInput) error {
	var unknown error
	if !rest.IsBroken(ctx, "feature_code") {
		_, unknown = h.svc.grantable(ctx, in.Body.FeatureCode)
	}
	var broken fault.Fields
	if g := in.grant(); g.expiresAt != nil {
		switch {
		case !h.svc.clock.Now().Before(*g.expiresAt):
			broken.Add("expires_at", "validation.after_now")
		case !g.startsAt.Before(*g.expiresAt):
			broken.Add("expires_at", "validation.after_start")
		}
	}
	return fault.Join(unknown, broken.Err())
}

// CreateGrant handles POST /admin/tenants/{tenant}/grants.
func (h *HTTP) CreateGrant(ctx context.Context, in *grantInput) (*rest.Data[GrantView], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.CheckGrant(ctx, in); err != nil {
		return nil, err
	}
	g, err := h.svc.createGrant(ctx, id, in.grant())
	if err != nil {
		return nil, err
	}
	return rest.OK(viewOfGrant(g, h.svc.clock.Now(), true)), nil
}

type deleteGrantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Grant  string `path:"grant" format:"uuid"`
}

// DeleteGrant handles DELETE /admin/tenants/{tenant}/grants/{grant}.
func (h *HTTP) DeleteGrant(ctx context.Context, in *deleteGrantInput) (*rest.NoBody, error) {
	tenantID, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	id, err := shape.ParseID(in.Grant)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.deleteGrant(ctx, tenantID, id)
}
