package pricelink

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Find returns a plan that is not deleted and one of its prices, or catalog.ErrNotFound.
func (s *Service) Find(ctx context.Context, planID, priceID uuid.UUID) (catalog.Plan, catalog.Price, error) {
	plan, err := s.catalog.CurrentPlan(ctx, planID)
	if err != nil {
		return catalog.Plan{}, catalog.Price{}, err
	}
	for _, price := range plan.Prices {
		if price.ID == priceID {
			return plan, price, nil
		}
	}
	return catalog.Plan{}, catalog.Price{}, catalog.ErrNotFound
}

// Link links a price to a provider price with the same terms and replaces an existing link. It
// returns a 422 error on psp_price_id if the provider does not have the price, and
// psp_price_mismatch if the terms differ.
func (s *Service) Link(ctx context.Context, planID, priceID uuid.UUID, pspPriceID string) (catalog.Price, error) {
	_, before, err := s.Find(ctx, planID, priceID)
	if err != nil {
		return catalog.Price{}, err
	}
	remote, err := s.readPrice(ctx, pspPriceID)
	if err != nil {
		return catalog.Price{}, err
	}
	var linked catalog.Price
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := s.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		if found := mismatches(plan, price, remote); len(found) > 0 {
			return mismatchError(found)
		}
		if err := s.checkChargeable(ctx, price.Currency, price.PriceCents); err != nil {
			return err
		}
		if !equal(price.PSPPriceID, before.PSPPriceID) {
			return errLinked // linked by a concurrent request
		}
		linked, err = s.link(ctx, now, "psp_linked", plan, price, remote)
		return err
	})
	return linked, err
}

// link stores a link, under the catalog lock. If the plan has no product at the provider, link also
// links it to the product of the price, so that one local plan corresponds to one provider product.
func (s *Service) link(
	ctx context.Context, now time.Time, action string, plan catalog.Plan, price catalog.Price, remote psp.Price,
) (catalog.Price, error) {
	old := price.PSPPriceID
	price.PSPPriceID = &remote.ID
	if equal(old, price.PSPPriceID) {
		return price, nil
	}
	if err := s.store.linkPrice(ctx, price.ID, remote.ID, now); err != nil {
		return price, err
	}
	if remote.ProductID != "" {
		if err := s.store.linkPlan(ctx, plan.ID, remote.ProductID, now); err != nil {
			return price, err
		}
	}
	return price, s.record(ctx, action, price, old, price.PSPPriceID)
}

// Unlink removes the link of a price. The provider keeps its price, and existing subscriptions
// continue to use it.
func (s *Service) Unlink(ctx context.Context, planID, priceID uuid.UUID) (catalog.Price, error) {
	var unlinked catalog.Price
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		_, price, err := s.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		unlinked, err = s.unlink(ctx, now, price)
		return err
	})
	return unlinked, err
}

// unlink removes the link of price unless the link has changed.
func (s *Service) unlink(ctx context.Context, now time.Time, price catalog.Price) (catalog.Price, error) {
	old := price.PSPPriceID
	price.PSPPriceID = nil
	if old == nil {
		return price, nil
	}
	removed, err := s.store.unlinkPrice(ctx, price.ID, *old, now)
	if err != nil || !removed {
		return price, err
	}
	return price, s.record(ctx, "psp_unlinked", price, old, nil)
}

// Import creates a price of the plan from a provider price. The provider price must have the plan's
// interval and an existing currency in which the plan does not have a price yet.
func (s *Service) Import(ctx context.Context, planID uuid.UUID, pspPriceID string) (catalog.Price, error) {
	if _, err := s.catalog.CurrentPlan(ctx, planID); err != nil {
		return catalog.Price{}, err
	}
	remote, err := s.readPrice(ctx, pspPriceID)
	if err != nil {
		return catalog.Price{}, err
	}
	price := catalog.Price{ID: sqldb.NewID(), PlanID: planID, Currency: remote.Currency, PSPPriceID: &remote.ID}
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, err := s.catalog.CurrentPlan(ctx, planID)
		if err != nil {
			return err
		}
		if remote.UnitAmount != nil {
			price.PriceCents = *remote.UnitAmount
		}
		if plan.IsDefault && price.PriceCents > 0 {
			return fault.OnField("prices", "validation.of_default_plan")
		}
		if found := mismatches(plan, price, remote); len(found) > 0 {
			return mismatchError(found)
		}
		if err := s.checkChargeable(ctx, price.Currency, price.PriceCents); errors.Is(err, catalog.ErrNotFound) {
			return errCurrencyUnknown
		} else if err != nil {
			return err
		}
		if _, has := plan.PriceIn(price.Currency); has {
			return errCurrencyTaken
		}
		if err := s.store.insertPrice(ctx, price, now); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "plan_price", "psp_imported", price.ID, nil, priceTrail(price, price.PSPPriceID))
	})
	return price, err
}

// readPrice reads a provider price that a caller passed.
func (s *Service) readPrice(ctx context.Context, pspPriceID string) (psp.Price, error) {
	now, err := s.readState(ctx, pspPriceID)
	if err == nil && now.missing {
		err = errPriceUnknown
	}
	return now.Price, err
}

func (s *Service) record(ctx context.Context, action string, price catalog.Price, before, after *string) error {
	return s.catalog.Record(ctx, "plan_price", action, price.ID, priceTrail(price, before), priceTrail(price, after))
}

// priceTrail returns the price's fields for the audit log, under their API names.
func priceTrail(price catalog.Price, pspPriceID *string) any {
	return map[string]any{
		"plan_id": price.PlanID, "currency": price.Currency, "price_cents": price.PriceCents, "psp_price_id": pspPriceID,
	}
}

// equal reports whether both pointers are nil or point to equal texts.
func equal(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
