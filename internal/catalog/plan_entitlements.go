package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// EntitlementTerms is one entitlement of a set as somebody wants it (spec: Admin
// catalog endpoints, Entitlement rule).
type EntitlementTerms struct {
	FeatureID uuid.UUID // one that is not deleted, each once in a set
	Type      EntitlementType
	Value     *int64 // a positive quota; nil for a boolean entitlement
}

// SetEntitlements replaces what a plan gives, for its subscribers at once.
// Entitlements whose feature stays keep their id. Broken terms are a 422 on
// entitlements.<n>.<field>.
func (s *Service) SetEntitlements(ctx context.Context, planID uuid.UUID, set []EntitlementTerms) (Plan, error) {
	return s.UpdatePlan(ctx, planID, PlanChange{Entitlements: &set})
}

// DeleteEntitlement removes one entitlement of whichever plan, for its
// subscribers at once; ErrNotFound without such an entitlement.
func (s *Service) DeleteEntitlement(ctx context.Context, id uuid.UUID) error {
	return s.Change(ctx, func(ctx context.Context, _ time.Time) error {
		planID, err := s.store.q(ctx).PlanOfEntitlement(ctx, id)
		if err != nil {
			return found(err)
		}
		_, err = s.changePlan(ctx, planID, "updated", func(ctx context.Context, old Plan, now time.Time) error {
			old.UpdatedAt = now
			if err := s.store.savePlan(ctx, old); err != nil {
				return err
			}
			return s.store.q(ctx).DeleteEntitlement(ctx, id)
		})
		return err
	})
}

// checkEntitlements adds what is broken of a set.
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
		case terms.Type == Boolean && terms.Value != nil:
			broken.Add(path+"value", "validation.left_out")
		case terms.Type == Quota && terms.Value == nil:
			broken.Add(path+"value", "validation.required")
		}
	}
	return nil
}

// replaceEntitlements makes a plan give what a valid set says. Rows that do not
// change are left alone.
func (s store) replaceEntitlements(ctx context.Context, old Plan, set []EntitlementTerms, now time.Time) error {
	wanted := map[uuid.UUID]EntitlementTerms{}
	for _, terms := range set {
		wanted[terms.FeatureID] = terms
	}
	for _, was := range old.Entitlements {
		terms, stays := wanted[was.Feature.ID]
		delete(wanted, was.Feature.ID)
		var err error
		switch {
		case !stays:
			err = s.q(ctx).DeleteEntitlement(ctx, was.ID)
		case was.Type != terms.Type || !equal(was.Value, terms.Value):
			err = s.q(ctx).UpdateEntitlement(ctx, catalogsql.UpdateEntitlementParams{
				ID: was.ID, Type: string(terms.Type), Value: terms.Value, UpdatedAt: now,
			})
		}
		if err != nil {
			return fmt.Errorf("entitlement %s: %w", was.Feature.Code, err)
		}
	}
	for _, terms := range set {
		if _, isNew := wanted[terms.FeatureID]; !isNew {
			continue
		}
		if err := s.insertEntitlement(ctx, old.ID, terms, now); err != nil {
			return fmt.Errorf("entitlement to %s: %w", terms.FeatureID, err)
		}
	}
	return nil
}

func (s store) insertEntitlement(ctx context.Context, planID uuid.UUID, terms EntitlementTerms, now time.Time) error {
	return s.q(ctx).InsertEntitlement(ctx, catalogsql.InsertEntitlementParams{
		ID: sqldb.NewID(), PlanID: planID, FeatureID: terms.FeatureID, Type: string(terms.Type), Value: terms.Value, CreatedAt: now,
	})
}
