package catalog

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// CreatePlan adds a plan without prices and entitlements to a product and sets its ID and times. It
// returns a 422 error on product_id if the product does not exist, and on slug if another plan has
// the slug.
func (s *Service) CreatePlan(ctx context.Context, p Plan) (Plan, error) {
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		p.ID, p.CreatedAt = sqldb.NewID(), now
		if err := s.CheckPlan(ctx, p); err != nil {
			return err
		}
		if err := s.store.insertPlan(ctx, p); err != nil {
			return err
		}
		var err error
		if p, err = s.store.plan(ctx, p.ID); err != nil {
			return err
		}
		return s.Record(ctx, "plan", "created", p.ID, nil, recordedPlan(p))
	})
	return p, err
}

// PlanChange is a change of a plan. Nil fields keep the current value.
type PlanChange struct {
	Fields       func(*Plan) // updates the fields; changes the product by ID only
	Prices       *[]PriceTerms
	Entitlements *[]EntitlementTerms
	// IsPart means that other plans change too, and that the caller calls CheckTrialsWithoutCard
	// after the last change.
	IsPart bool
}

// UpdatePlan changes a plan, with the validation of CreatePlan. Prices and entitlements are
// replaced as whole sets, with the validation of PriceTerms and EntitlementTerms.
//
// Existing subscriptions keep the price and the interval that they were created with, but changed
// entitlements apply to them immediately. A changed pricing type would also apply immediately, so
// UpdatePlan returns errInUse for it if the plan has subscriptions.
func (s *Service) UpdatePlan(ctx context.Context, id uuid.UUID, c PlanChange) (Plan, error) {
	return s.changePlan(ctx, id, "updated", func(ctx context.Context, old Plan, now time.Time) error {
		next, err := s.checkPlanChange(ctx, old, c)
		if err != nil {
			return err
		}
		next.UpdatedAt = now
		if c.Entitlements != nil {
			if err := requirePermission(ctx, "entitlements.sync"); err != nil {
				return err
			}
		}
		if next.PricingType != old.PricingType {
			if err := s.requireUnused(ctx, id); err != nil {
				return err
			}
		}
		if err := s.store.savePlan(ctx, next); err != nil {
			return err
		}
		if err := s.store.replacePrices(ctx, old.Prices, next.Prices, now); err != nil {
			return err
		}
		if c.Entitlements != nil {
			return s.store.replaceEntitlements(ctx, old, *c.Entitlements, now)
		}
		return nil
	})
}

// CheckPlan validates the fields of a new plan as CreatePlan does.
func (s *Service) CheckPlan(ctx context.Context, p Plan) error {
	broken, err := s.checkPlan(ctx, Plan{CardForTrial: true}, p, false)
	if err != nil {
		return err
	}
	return broken.Err()
}

// CheckPlanChange validates a change as UpdatePlan does.
func (s *Service) CheckPlanChange(ctx context.Context, id uuid.UUID, c PlanChange) error {
	old, err := s.store.plan(ctx, id)
	if err != nil {
		return err
	}
	_, err = s.checkPlanChange(ctx, old, c)
	return err
}

// checkPlanChange returns the plan with the change and the resulting prices, or the invalid fields.
func (s *Service) checkPlanChange(ctx context.Context, old Plan, c PlanChange) (next Plan, err error) {
	next = old
	if c.Fields != nil {
		c.Fields(&next)
	}
	next.Prices = ResolvePrices(old, next, c.Prices)
	broken, err := s.checkPlan(ctx, old, next, c.IsPart)
	if err != nil {
		return Plan{}, err
	}
	if c.Prices != nil {
		if err := s.checkPrices(ctx, next.Prices, *c.Prices, &broken); err != nil {
			return Plan{}, err
		}
	}
	if c.Entitlements != nil {
		if err := s.checkEntitlements(ctx, *c.Entitlements, &broken); err != nil {
			return Plan{}, err
		}
	}
	return next, broken.Err()
}

// DeletePlan deletes a plan. Its row remains for the history that refers to it, and its slug
// becomes available. It returns errInUse if the plan has an active subscription.
func (s *Service) DeletePlan(ctx context.Context, id uuid.UUID) error {
	return s.Change(ctx, func(ctx context.Context, now time.Time) error {
		p, err := s.store.lockPlan(ctx, id)
		if err != nil {
			return err
		}
		if p.IsDefault {
			return errDefaultPlan
		}
		if err := s.requireUnused(ctx, id); err != nil {
			return err
		}
		if err := s.store.deletePlan(ctx, id, now); err != nil {
			return err
		}
		return s.Record(ctx, "plan", "deleted", id, recordedPlan(p), nil)
	})
}

// DuplicatePlan adds an inactive copy of a plan with its entitlements and prices. The prices are
// not linked to the payment provider. The slug of the copy is the first free one of slug-copy,
// slug-copy-2 and so on.
func (s *Service) DuplicatePlan(ctx context.Context, id uuid.UUID) (Plan, error) {
	var p Plan
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		original, err := s.store.lockPlan(ctx, id)
		if err != nil {
			return err
		}
		p = original
		p.ID, p.IsActive, p.IsDefault, p.CreatedAt = sqldb.NewID(), false, false, now
		if p.Slug, err = s.copySlug(ctx, original.Slug); err != nil {
			return err
		}
		if err := s.store.insertPlan(ctx, p); err != nil {
			return err
		}
		for _, price := range original.Prices {
			price = Price{ID: sqldb.NewID(), PlanID: p.ID, Currency: price.Currency, PriceCents: price.PriceCents}
			if err := s.store.insertPrice(ctx, price, now); err != nil {
				return err
			}
		}
		for _, e := range original.Entitlements {
			if err := s.store.insertEntitlement(ctx, p.ID, EntitlementTerms{FeatureID: e.Feature.ID, Type: e.Type, Value: e.Value}, now); err != nil {
				return err
			}
		}
		if p, err = s.store.plan(ctx, p.ID); err != nil {
			return err
		}
		return s.Record(ctx, "plan", "duplicated", p.ID, nil, recordedPlan(p))
	})
	return p, err
}

// maxSlug is the maximum length of a slug in characters.
const maxSlug = 255

// copySlug returns the slug of a copy. It truncates the original slug if the result would be too
// long.
func (s *Service) copySlug(ctx context.Context, slug string) (string, error) {
	const suffix, longestSuffix = "-copy", len("-copy-1000000")
	prefix := slug[:min(len(slug), maxSlug-longestSuffix)]
	slugs, err := s.store.slugsOfPlans(ctx, prefix)
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, other := range slugs {
		taken[other] = true
	}
	if len(slug)+len(suffix) > maxSlug {
		slug = prefix
	}
	name := slug + suffix
	for n := 2; taken[name]; n++ {
		number := suffix + "-" + strconv.Itoa(n)
		name = slug[:min(len(slug), maxSlug-len(number))] + number
	}
	return name, nil
}

// changePlan changes a plan that is not deleted and returns it with its prices and entitlements.
//
// Invariant: it locks the plan's row in addition to the catalog, so that no subscription to the
// plan can be created concurrently.
func (s *Service) changePlan(
	ctx context.Context, id uuid.UUID, action string, f func(ctx context.Context, old Plan, now time.Time) error,
) (Plan, error) {
	var p Plan
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		old, err := s.store.lockPlan(ctx, id)
		if err != nil {
			return err
		}
		if err := f(ctx, old, now); err != nil {
			return err
		}
		if p, err = s.store.plan(ctx, id); err != nil {
			return err
		}
		return s.Record(ctx, "plan", action, id, recordedPlan(old), recordedPlan(p))
	})
	return p, err
}

// checkPlan returns the invalid fields of a plan after a change from old. It does not check prices
// and entitlements.
func (s *Service) checkPlan(ctx context.Context, old, p Plan, isPart bool) (broken fault.Fields, err error) {
	_, err = s.store.product(ctx, p.Product.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		broken.Add("product_id", "validation.exists")
	case err != nil:
		return nil, err
	}
	checkTexts(&broken, p.Name, p.Description)
	other, err := s.store.planBySlug(ctx, p.Slug)
	switch {
	case err == nil && other.ID != p.ID:
		broken.Add("slug", "validation.taken")
	case err != nil && !errors.Is(err, ErrNotFound):
		return nil, err
	}
	if most := maxIntervalCount[p.Interval.Unit]; p.Interval.Count > most {
		broken = append(broken, fault.Field{
			Path: "interval_count", Message: "validation.maximum", Args: map[string]any{"max": most},
		})
	}
	err = s.checkDefault(ctx, old, p, isPart, &broken)
	return broken, err
}

// recordedPlan returns the plan's fields for the audit log, under their API names.
func recordedPlan(p Plan) map[string]any {
	prices := viewAll(p.Prices, func(price Price) map[string]any {
		return map[string]any{"currency": price.Currency, "price_cents": price.PriceCents, "psp_price_id": price.PSPPriceID}
	})
	entitlements := viewAll(p.Entitlements, func(e Entitlement) map[string]any {
		return map[string]any{"feature": e.Feature.Code, "type": e.Type, "value": e.Value}
	})
	return map[string]any{
		"product_id": p.Product.ID, "slug": p.Slug, "name": p.Name, "description": p.Description,
		"pricing_type": p.PricingType, "billing_cycle": p.BillingCycle, "interval_unit": p.Interval.Unit,
		"interval_count": p.Interval.Count, "trial_days": p.TrialDays, "trial_requires_card": p.CardForTrial, "is_default": p.IsDefault, "sort_order": p.SortOrder,
		"is_active": p.IsActive, "metadata": p.Metadata, "prices": prices, "entitlements": entitlements,
	}
}
