package pricelink

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

// Status says how a price and its counterpart at the provider agree.
type Status string

// The statuses.
const (
	Linked          Status = "linked"         // both sell the same
	Missing         Status = "missing"        // not linked
	Mismatched      Status = "mismatch"       // they sell different things
	MissingAtStripe Status = "stripe_missing" // linked to a price that the provider does not have
	Inactive        Status = "inactive"       // sold here, not at the provider
	Unknown         Status = "error"          // the provider could not be asked
)

// statusReads is how many prices of the provider are read at the same time.
const statusReads = 8

// PriceStatus is the status of a price.
type PriceStatus struct {
	Price      catalog.Price
	Status     Status
	Mismatches []Mismatch // when Mismatched
}

// Statuses compares each price of a plan with the provider's, by currency. It does
// not fail when the provider does: a price that could not be read is Unknown.
func (s *Service) Statuses(ctx context.Context, planID uuid.UUID) ([]PriceStatus, error) {
	plan, err := s.catalog.CurrentPlan(ctx, planID)
	if err != nil {
		return nil, err
	}
	statuses := make([]PriceStatus, len(plan.Prices))
	var reads errgroup.Group
	reads.SetLimit(statusReads)
	for i, price := range plan.Prices {
		reads.Go(func() error {
			statuses[i] = s.status(ctx, plan, price)
			return nil
		})
	}
	return statuses, reads.Wait()
}

func (s *Service) status(ctx context.Context, plan catalog.Plan, price catalog.Price) PriceStatus {
	if price.PSPPriceID == nil {
		return PriceStatus{Price: price, Status: Missing}
	}
	remote, err := s.provider.GetPrice(ctx, *price.PSPPriceID)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return PriceStatus{Price: price, Status: MissingAtStripe}
	case err != nil:
		s.log.WarnContext(ctx, "a price could not be compared", "price_id", price.ID, "error", err)
		return PriceStatus{Price: price, Status: Unknown}
	case !remote.Active:
		return PriceStatus{Price: price, Status: Inactive}
	}
	if found := mismatches(plan, price, remote); len(found) > 0 {
		return PriceStatus{Price: price, Status: Mismatched, Mismatches: found}
	}
	return PriceStatus{Price: price, Status: Linked}
}
