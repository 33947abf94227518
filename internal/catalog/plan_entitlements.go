package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
)

// EntitlementTerms is one entitlement of a set to store (rules: catalog#entitlements).
type EntitlementTerms struct {
	FeatureID uuid.UUID // must not be deleted; unique within a set
	Type      EntitlementType
	Value     *int64 // a positive quota; nil for a boolean entitlement
}

// SetEntitlements replaces the entitlements of a plan, with immediate effect for its subscribers.
// Entitlements to features that remain in the set keep their IDs. Invalid terms are a 422 error on
// entitlements.<n>.<field>.
func (s *Service) SetEntitlements(ctx context.Context, planID uuid.UUID, set []EntitlementTerms) (Plan, error) {
	return s.UpdatePlan(ctx, planID, PlanChange{Entitlements: &set})
}

// DeleteEntitlement removes an entitlement from its plan, with immediate effect for its
// subscribers. It returns ErrNotFound if the entitlement does not exist.
func (s *Service) DeleteEntitlement(ctx context.Context, id uuid.UUID) error {
	return s.Change(ctx, func(ctx context.Context, _ time.Time) error {
		planID, err := s.store.planOfEntitlement(ctx, id)
		if err != nil {
			return err
		}
		_, err = s.changePlan(ctx, planID, "updated", func(ctx context.Context, old Plan, now time.Time) error {
			old.UpdatedAt = now
			if err := s.store.savePlan(ctx, old); err != nil {
				return err
			}
			return s.store.deleteEntitlement(ctx, id)
		})
		return err
	})
}

// checkEntitlements adds the invalid fields of a set to broken.
func (s *Service) checkEntitlements(ctx context.Context, set []EntitlementTerms, broken *fault.Fields) error {
	features, err := s.store.features(ctx)
	if err != nil {
		return err
	}
	known, seen := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, f := range features {
		known[f.ID] = true
	}
	for i, terms := range set {
		path := fmt.Sprintf("entitlements.%d.", i)
		switch {
		case !known[terms.FeatureID]:
			broken.Add(path+"feature_id", "validation.exists")
		case seen[terms.FeatureID]:
			broken.Add(path+"feature_id", "validation.repeated")
		}
		seen[terms.FeatureID] = true
		switch {
		case terms.Type == TypeBoolean && terms.Value != nil:
			broken.Add(path+"value", "validation.left_out")
		case terms.Type == TypeQuota && terms.Value == nil:
			broken.Add(path+"value", "validation.required")
		}
	}
	return nil
}
