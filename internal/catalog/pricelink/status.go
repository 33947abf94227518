package pricelink

import (
	"context"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tenantry/tenantry/internal/catalog"
)

// Status says how a price and its counterpart at the provider agree.
type Status string

// The statuses.
const (
	StatusLinked          Status = "linked"         // both sell the same
	StatusMissing         Status = "missing"        // not linked
	StatusMismatched      Status = "mismatch"       // they sell different things
	StatusMissingAtStripe Status = "stripe_missing" // linked to a price that the provider does not have
	StatusInactive        Status = "inactive"       // not active at the provider, or its product is not
	StatusUnknown         Status = "error"          // the provider could not be asked
)

// statusReads is how many prices of the provider are read at the same time.
const statusReads = 8

// PriceStatus is the status of a price.
type PriceStatus struct {
	Price      catalog.Price
	Status     Status
	Mismatches []Mismatch // when Mismatched
	// Warning is why the price cannot be sold although nothing is wrong with its link; ""
	// for no reason.
	Warning Status
	// Minimum is the lowest amount that the provider collects, with the warning
	// BelowMinimum; else 0.
	Minimum int64
	// Meters are what a usage plan sells besides, in the price's currency.
	Meters []Switch
}

// Switch says how running subscriptions follow what is sold of a meter: each has its own
// price until its next period begins (rules: usage#new-prices).
type Switch struct {
	Currency   string
	MeterCode  string
	PSPPriceID string // that is sold; empty for a meter that is not billed any more
	// Pending is how many subscriptions to the plan have another price, or none.
	Pending int64
	// Next is when the next of them is switched; zero where none will be.
	Next time.Time
}

// Running knows the subscriptions that run.
type Running interface {
	// Switches lists what is sold with a usage plan, by currency and meter code.
	Switches(ctx context.Context, planID uuid.UUID) ([]Switch, error)
}

// Statuses compares each price of a plan with the provider's, by currency. It does
// not fail when the provider does: a price that could not be read is Unknown.
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

// status reads a price anew, so that whoever looks at its status also has it sold again
// once the provider's is active again.
func (s *Service) status(ctx context.Context, plan catalog.Plan, price catalog.Price) (PriceStatus, error) {
	found := PriceStatus{Price: price, Status: StatusMissing}
	var err error
	found.Warning, found.Minimum, err = s.warning(ctx, plan, price)
	if err != nil || price.PSPPriceID == nil {
		return found, err
	}
	now, err := s.readState(ctx, *price.PSPPriceID)
	if err != nil {
		s.log.WarnContext(ctx, "a price could not be compared", "price_id", price.ID, "error", err)
		found.Status = StatusUnknown
		return found, nil
	}
	found.Status, found.Mismatches = statusOf(plan, price, now)
	return found, nil
}
