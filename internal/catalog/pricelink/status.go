package pricelink

import (
	"context"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/catalog"
)

// Status is the sync status of a price with its counterpart at the provider.
type Status string

// Statuses of a price.
const (
	StatusLinked          Status = "linked"         // both have the same terms
	StatusMissing         Status = "missing"        // not linked
	StatusMismatched      Status = "mismatch"       // the terms differ
	StatusMissingAtStripe Status = "stripe_missing" // linked to a price that does not exist at the provider
	StatusInactive        Status = "inactive"       // the price or its product is inactive at the provider
	StatusUnknown         Status = "error"          // the provider could not be reached
)

// statusReads is the maximum number of concurrent reads of provider prices.
const statusReads = 8

// PriceStatus is the status of a price.
type PriceStatus struct {
	Price      catalog.Price
	Status     Status
	Mismatches []Mismatch // set for StatusMismatched
	// Warning is the reason why a correctly linked price cannot be sold; "" if it can.
	Warning Status
	// Minimum is the provider's minimum charge; set for the warning StatusBelowMinimum.
	Minimum int64
	// Meters are the meters that a usage plan bills in the price's currency.
	Meters []Switch
}

// Switch is the progress of moving running subscriptions to the current price of a meter. Each
// subscription keeps its price until its next period begins (rules: usage#new-prices).
type Switch struct {
	Currency   string
	MeterCode  string
	PSPPriceID string // the price on sale; empty if the meter is no longer billed
	// Pending is the number of subscriptions that still have another price of the meter, or no
	// price.
	Pending int64
	// Next is the time of the next switch; zero if none is pending.
	Next time.Time
}

// RunningSubscriptions reads running subscriptions.
type RunningSubscriptions interface {
	// Switches lists the meters sold with a usage plan, by currency and meter code.
	Switches(ctx context.Context, planID uuid.UUID) ([]Switch, error)
}

// Statuses compares each price of a plan with its counterpart at the provider, sorted by currency.
// It does not fail if the provider fails: a price that could not be read has StatusUnknown.
func (s *Service) Statuses(ctx context.Context, planID uuid.UUID) ([]PriceStatus, error) {
	plan, err := s.catalog.CurrentPlan(ctx, planID)
	if err != nil {
		return nil, err
	}
	var switches []Switch
	if plan.PricingType == catalog.PricingUsage && s.running != nil {
		if switches, err = s.running.Switches(ctx, planID); err != nil {
			return nil, err
		}
	}
	statuses := make([]PriceStatus, len(plan.Prices))
	var reads errgroup.Group
	reads.SetLimit(statusReads)
	for i, price := range plan.Prices {
		reads.Go(func() error {
			var err error
			statuses[i], err = s.status(ctx, plan, price)
			return err
		})
	}
	err = reads.Wait()
	for i := range statuses {
		for _, sw := range switches {
			if sw.Currency == statuses[i].Price.Currency {
				statuses[i].Meters = append(statuses[i].Meters, sw)
			}
		}
	}
	return statuses, err
}

// status reads a price again. Viewing the status therefore also puts a price back on sale that is
// active again at the provider.
func (s *Service) status(ctx context.Context, plan catalog.Plan, price catalog.Price) (PriceStatus, error) {
	found := PriceStatus{Price: price, Status: StatusMissing}
	var err error
	found.Warning, found.Minimum, err = s.warning(ctx, plan, price)
	if err != nil || price.PSPPriceID == nil {
		return found, err
	}
	now, err := s.readState(ctx, *price.PSPPriceID)
	if err != nil {
		s.log.WarnContext(ctx, "failed to compare price", "price_id", price.ID, "error", err)
		found.Status = StatusUnknown
		return found, nil
	}
	found.Status, found.Mismatches = statusOf(plan, price, now)
	return found, nil
}
