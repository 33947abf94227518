package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// studioFeature is the code of the feature that opens the studio.
const studioFeature = "studio-access"

// Why the studio is closed. Clients rely on these words.
const (
	studioNoSubscription = "no_active_subscription"
	studioNotInPlan      = "feature_not_in_plan"
)

// StudioAccess tells whether the caller's tenant may use the studio; Reason is
// null where it may.
type StudioAccess struct {
	Allowed bool    `json:"allowed"`
	Reason  *string `json:"reason" enum:"no_active_subscription,feature_not_in_plan"`
}

// StudioAccess handles GET /studio/access.
func (h *HTTP) StudioAccess(ctx context.Context, _ *struct{}) (*rest.Data[StudioAccess], error) {
	reason, err := h.svc.studioClosed(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return rest.OK(StudioAccess{Reason: &reason}), nil
	}
	return rest.OK(StudioAccess{Allowed: true}), nil
}

// studioClosed tells why a tenant may not use the studio, "" when it may: its
// subscription grants features and its plan has the studio's. A quota of none is
// no access.
func (s *Service) studioClosed(ctx context.Context, tenantID uuid.UUID) (string, error) {
	granted, active, err := s.Granted(ctx, tenantID)
	if err != nil {
		return "", err
	}
	if !active {
		return studioNoSubscription, nil
	}
	for _, f := range granted {
		if f.Code == studioFeature && (f.Quota == nil || *f.Quota > 0) {
			return "", nil
		}
	}
	return studioNotInPlan, nil
}
