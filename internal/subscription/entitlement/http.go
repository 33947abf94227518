package entitlement

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP has the handlers for entitlements.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// Entitlement is a feature that the tenant has. Used and Remaining are reserved and always null
// (rules: subscription#entitlements).
type Entitlement struct {
	Key       string `json:"key"`
	Enabled   bool   `json:"enabled"`
	Type      string `json:"type"`
	Limit     *int64 `json:"limit"`
	Used      *int64 `json:"used"`
	Remaining *int64 `json:"remaining"`
}

// Entitlements handles GET /entitlements.
func (h *HTTP) Entitlements(ctx context.Context, _ *tenantInput) (*rest.Data[[]Entitlement], error) {
	terms, _, err := h.svc.terms.Get(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(terms.rows(h.svc.clock.Now())), nil
}

// studioFeature is the code of the feature that grants access to the studio.
const studioFeature = "studio-access"

// The reasons why access to the studio is denied. They are part of the API.
const (
	studioNoSubscription = "no_active_subscription"
	studioNotInPlan      = "feature_not_in_plan"
)

// StudioAccess reports whether the caller's tenant can use the studio. Reason is null if it can.
type StudioAccess struct {
	Allowed bool    `json:"allowed"`
	Reason  *string `json:"reason" enum:"no_active_subscription,feature_not_in_plan"`
}

// StudioAccess handles GET /studio/access.
func (h *HTTP) StudioAccess(ctx context.Context, _ *struct{}) (*rest.Data[StudioAccess], error) {
	reason, err := h.svc.whyStudioClosed(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return rest.OK(StudioAccess{Reason: &reason}), nil
	}
	return rest.OK(StudioAccess{Allowed: true}), nil
}

// whyStudioClosed returns the reason why a tenant cannot use the studio, or "" if it can. The
// tenant needs a subscription that grants the studio feature, and its quota, if there is one, must
// be positive.
func (s *Service) whyStudioClosed(ctx context.Context, tenantID uuid.UUID) (string, error) {
	granted, err := s.GrantedFeatures(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return studioNoSubscription, nil
	}
	if err != nil {
		return "", err
	}
	for _, f := range granted {
		if f.Code == studioFeature && (f.Quota == nil || *f.Quota > 0) {
			return "", nil
		}
	}
	return studioNotInPlan, nil
}
