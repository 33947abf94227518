package catalog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// replacePrices replaces the prices old with next, which must be valid. It does not touch unchanged
// rows.
func (s store) replacePrices(ctx context.Context, old, next []Price, now time.Time) error {
	wanted := map[uuid.UUID]Price{}
	for _, p := range next {
		if p.ID != uuid.Nil {
			wanted[p.ID] = p
		}
	}
	// Links are unique, and two prices can swap their links, so remove links first.
	for _, was := range old {
		p, stays := wanted[was.ID]
		var err error
		switch {
		case !stays:
			err = s.deletePrice(ctx, was.ID)
		case was.PSPPriceID != nil && !equalPointers(was.PSPPriceID, p.PSPPriceID):
			err = s.savePrice(ctx, Price{ID: was.ID, PriceCents: was.PriceCents}, now)
		}
		if err != nil {
			return err
		}
	}
	for _, was := range old {
		p, stays := wanted[was.ID]
		if !stays || p.PriceCents == was.PriceCents && equalPointers(p.PSPPriceID, was.PSPPriceID) {
			continue
		}
		if err := s.savePrice(ctx, p, now); err != nil {
			return err
		}
	}
	for _, p := range next {
		if p.ID != uuid.Nil {
			continue
		}
		p.ID = sqldb.NewID()
		if err := s.insertPrice(ctx, p, now); err != nil {
			return err
		}
	}
	return nil
}

func (s store) insertPrice(ctx context.Context, p Price, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertPrice(ctx, catalogsql.InsertPriceParams{
		ID: p.ID, PlanID: p.PlanID, Currency: p.Currency, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID, CreatedAt: now,
	}), "insert price")
}

func (s store) savePrice(ctx context.Context, p Price, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).SavePrice(ctx, catalogsql.SavePriceParams{
		ID: p.ID, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID, UpdatedAt: now,
	}), "save price")
}

func (s store) deletePrice(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeletePrice(ctx, id), "delete price")
}

// replaceEntitlements replaces the entitlements of a plan with set, which must be valid. It does
// not touch unchanged rows.
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
			err = s.deleteEntitlement(ctx, was.ID)
		case was.Type != terms.Type || !equalPointers(was.Value, terms.Value):
			err = sqldb.Wrap(s.q(ctx).UpdateEntitlement(ctx, catalogsql.UpdateEntitlementParams{
				ID: was.ID, Type: string(terms.Type), Value: terms.Value, UpdatedAt: now,
			}), "update entitlement")
		}
		if err != nil {
			return err
		}
	}
	for _, terms := range set {
		if _, isNew := wanted[terms.FeatureID]; !isNew {
			continue
		}
		if err := s.insertEntitlement(ctx, old.ID, terms, now); err != nil {
			return err
		}
	}
	return nil
}

func (s store) insertEntitlement(ctx context.Context, planID uuid.UUID, terms EntitlementTerms, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertEntitlement(ctx, catalogsql.InsertEntitlementParams{
		ID: sqldb.NewID(), PlanID: planID, FeatureID: terms.FeatureID, Type: string(terms.Type), Value: terms.Value, CreatedAt: now,
	}), "insert entitlement")
}

func (s store) deleteEntitlement(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeleteEntitlement(ctx, id), "delete entitlement")
}

// planOfEntitlement returns the ID of the entitlement's plan. Neither the plan nor the feature may
// be deleted.
func (s store) planOfEntitlement(ctx context.Context, id uuid.UUID) (uuid.UUID, error) {
	planID, err := s.q(ctx).PlanOfEntitlement(ctx, id)
	return planID, sqldb.WrapAbsent(err, "read entitlement", ErrNotFound)
}
