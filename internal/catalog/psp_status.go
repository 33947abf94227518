package catalog

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/psp"
)

// PSPStatus says how a price and its counterpart at the provider agree (spec:
// Enumerations, psp price sync status).
type PSPStatus string

// The sync statuses.
const (
	PSPLinked          PSPStatus = "linked"         // both sell the same
	PSPMissing         PSPStatus = "missing"        // not linked
	PSPMismatch        PSPStatus = "mismatch"       // they sell different things
	PSPMissingAtStripe PSPStatus = "stripe_missing" // linked to a price that the provider does not have
	PSPInactive        PSPStatus = "inactive"       // sold here, not at the provider
	PSPUnknown         PSPStatus = "error"          // the provider could not be asked
)

// statusReads is how many prices of the provider are read at the same time.
const statusReads = 8

// PriceStatus is the sync status of a price.
type PriceStatus struct {
	Price       Price
	Status      PSPStatus
	Differences []Difference // of a mismatch
}

// Statuses compares each price of a plan with the provider's, by currency. It
// does not fail with the provider: a price that could not be read says so.
func (p *PSPPrices) Statuses(ctx context.Context, planID uuid.UUID) ([]PriceStatus, error) {
	plan, err := p.catalog.CurrentPlan(ctx, planID)
	if err != nil {
		return nil, err
	}
	statuses := make([]PriceStatus, len(plan.Prices))
	var reads errgroup.Group
	reads.SetLimit(statusReads)
	for i, price := range plan.Prices {
		reads.Go(func() error {
			statuses[i] = p.status(ctx, plan, price)
			return nil
		})
	}
	return statuses, reads.Wait()
}

func (p *PSPPrices) status(ctx context.Context, plan Plan, price Price) PriceStatus {
	if price.PSPPriceID == nil {
		return PriceStatus{Price: price, Status: PSPMissing}
	}
	remote, err := p.provider.GetPrice(ctx, *price.PSPPriceID)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return PriceStatus{Price: price, Status: PSPMissingAtStripe}
	case err != nil:
		p.log.WarnContext(ctx, "a price could not be compared", "price_id", price.ID, "error", err)
		return PriceStatus{Price: price, Status: PSPUnknown}
	case !remote.Active:
		return PriceStatus{Price: price, Status: PSPInactive}
	}
	if found := differences(plan, price, remote); len(found) > 0 {
		return PriceStatus{Price: price, Status: PSPMismatch, Differences: found}
	}
	return PriceStatus{Price: price, Status: PSPLinked}
}
