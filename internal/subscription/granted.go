package subscription

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
)

// GrantedFeature is a feature that a subscription grants. A quota that is nil is
// unlimited, and so is a boolean feature's.
type GrantedFeature struct {
	Code  string
	Type  catalog.EntitlementType
	Quota *int64
}

// Granted returns what the tenant's subscription grants, by feature code; active
// is false without one that grants anything (spec: Subscription status).
func (s *Service) Granted(ctx context.Context, tenantID uuid.UUID) (features []GrantedFeature, active bool, err error) {
	rows, err := s.store.q(ctx).GrantedFeatures(ctx, tenantID)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	for _, row := range rows {
		if row.Code != nil {
			features = append(features, GrantedFeature{Code: *row.Code, Type: catalog.EntitlementType(*row.Type), Quota: row.Value})
		}
	}
	slices.SortFunc(features, func(a, b GrantedFeature) int { return cmp.Compare(a.Code, b.Code) })
	return features, true, nil
}
