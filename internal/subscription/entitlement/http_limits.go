package entitlement

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// limitValue is an entitlement in a row of limits.
type limitValue struct {
	Type  string `json:"type" enum:"boolean,quota,none"`
	Value *int64 `json:"value" doc:"The limit of a quota in whole units; null if unlimited, and for the other types."`
}

// limitOverride is the override in a row of limits.
type limitOverride struct {
	limitValue
	ExpiresAt *shape.Time  `json:"expires_at" doc:"Time at which the override expires, in UTC. Null if it does not expire."`
	Reason    string       `json:"reason"`
	By        authz.Author `json:"by" doc:"The user or API key that set the override."`
	CreatedAt shape.Time   `json:"created_at"`
}

// TenantLimit is a feature of one tenant with the value of its plan and its override.
type TenantLimit struct {
	FeatureCode     string         `json:"feature_code"`
	Plan            *limitValue    `json:"plan" doc:"The entitlement of the plan; null without one."`
	Override        *limitOverride `json:"override" doc:"Override of the limit. Null without an override."`
	GrantsRemaining shape.Total    `json:"grants_remaining" doc:"The remaining units of the grants that are valid now."`
	Effective       *limitValue    `json:"effective" doc:"The override, otherwise the entitlement of the plan; null with neither."`
}

type limitsInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminLimits handles GET /admin/tenants/{tenant}/limits.
func (h *HTTP) AdminLimits(ctx context.Context, in *limitsInput) (*rest.Data[[]TenantLimit], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	rows, err := h.svc.limits(ctx, id)
	return rest.OK(rows), err
}

// limits returns a row for each feature with a value of the plan, an override or grants, by code.
func (s *Service) limits(ctx context.Context, tenantID uuid.UUID) ([]TenantLimit, error) {
	terms, err := s.loadTerms(ctx, []uuid.UUID{tenantID})
	if err != nil {
		return nil, err
	}
	var remaining map[string]money.Total
	if s.deps.Grants != nil {
		if remaining, err = s.deps.Grants.RemainingUnits(ctx, tenantID); err != nil {
			return nil, err
		}
	}
	t, now := terms[tenantID], s.clock.Now()
	codes := map[string]bool{}
	for _, f := range t.features {
		codes[f.Code] = true
	}
	for _, o := range t.Overrides {
		if o.applies(now) {
			codes[o.FeatureCode] = true
		}
	}
	for code := range remaining {
		codes[code] = true
	}
	rows := make([]TenantLimit, 0, len(codes))
	for _, code := range slices.SortedFunc(maps.Keys(codes), cmp.Compare[string]) {
		row := t.limitRow(code, now)
		row.GrantsRemaining = shape.Total{Total: remaining[code]}
		rows = append(rows, row)
	}
	return rows, nil
}

// limitRow returns the row of a feature, without its grants.
func (t Terms) limitRow(code string, now time.Time) TenantLimit {
	row := TenantLimit{FeatureCode: code}
	if f := t.feature(code); f != nil {
		row.Plan = &limitValue{Type: string(f.Type), Value: f.Quota}
	}
	row.Effective = row.Plan
	if o := t.override(code, now); o != nil {
		value := limitValue{Type: string(o.Type), Value: o.Value}
		row.Override = &limitOverride{
			limitValue: value, ExpiresAt: shape.TP(o.ExpiresAt), Reason: o.Reason, By: o.By, CreatedAt: shape.T(o.CreatedAt),
		}
		row.Effective = &value
	}
	return row
}

type overrideInput struct {
	Tenant  string `path:"tenant" format:"uuid"`
	Feature string `path:"featureCode"`
	Body    struct {
		Type      string           `json:"type" enum:"boolean,quota,none" doc:"none takes the feature away."`
		Value     shape.Opt[int64] `json:"value,omitzero" nullable:"true" minimum:"0" doc:"The limit in whole units; null is unlimited. Required for a quota, otherwise null or absent."`
		ExpiresAt *shape.Time      `json:"expires_at,omitempty" nullable:"true" doc:"Time at which the override expires. Must be in the future. Null for never."`
		Reason    string           `json:"reason" format:"multiline" minLength:"1" maxLength:"500"`
	}
}

func (in *overrideInput) override() Override {
	b := in.Body
	o := Override{FeatureCode: in.Feature, Type: catalog.EntitlementType(b.Type), Reason: b.Reason}
	if b.Value.Set && !b.Value.Null {
		o.Value = &b.Value.Value
	}
	if b.ExpiresAt != nil {
		at := b.ExpiresAt.Std()
		o.ExpiresAt = &at
	}
	return o
}

// CheckOverride is the check that rest.Checks runs for PutLimit.
func (h *HTTP) CheckOverride(ctx context.Context, in *overrideInput) error {
	b := in.Body
	var broken fault.Fields
	switch isQuota := b.Type == string(catalog.TypeQuota); {
	case rest.IsBroken(ctx, "type") || rest.IsBroken(ctx, "value"):
	case isQuota && !b.Value.Set:
		broken.Add("value", "validation.required")
	case !isQuota && b.Value.Set && !b.Value.Null:
		broken.Add("value", "validation.left_out")
	}
	if o := in.override(); !o.applies(h.svc.clock.Now()) {
		broken.Add("expires_at", "validation.after_now")
	}
	return broken.Err()
}

// FeatureExists is the check behind rest.Exists for routes with {tenant} and {featureCode}.
func (h *HTTP) FeatureExists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("tenant"))
	if err != nil {
		return err
	}
	if _, err := h.svc.deps.Tenants.GetLive(ctx, id); err != nil {
		return err
	}
	_, err = h.svc.deps.Catalog.FeatureByCode(ctx, param("featureCode"))
	return err
}

// PutLimit handles PUT /admin/tenants/{tenant}/limits/{featureCode}.
func (h *HTTP) PutLimit(ctx context.Context, in *overrideInput) (*rest.Data[TenantLimit], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.CheckOverride(ctx, in); err != nil {
		return nil, err
	}
	if err := h.svc.SetOverride(ctx, id, in.override()); err != nil {
		return nil, err
	}
	rows, err := h.svc.limits(ctx, id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(row TenantLimit) bool { return row.FeatureCode == in.Feature })
	if i < 0 {
		return nil, shape.ErrNotFound // it was deleted concurrently
	}
	return rest.OK(rows[i]), nil
}

type deleteLimitInput struct {
	Tenant  string `path:"tenant" format:"uuid"`
	Feature string `path:"featureCode"`
}

// DeleteLimit handles DELETE /admin/tenants/{tenant}/limits/{featureCode}.
func (h *HTTP) DeleteLimit(ctx context.Context, in *deleteLimitInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.DeleteOverride(ctx, id, in.Feature)
}
