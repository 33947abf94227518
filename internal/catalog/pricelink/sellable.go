package pricelink

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/psp/charge"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// errNotSellable means that the provider would reject the sale, or charge another amount than the
// displayed one (rules: catalog#sellable-plans).
var errNotSellable = fault.NewCoded(fault.Invalid, fault.PlanNotSellable)

// Reasons why a plan cannot be sold, in addition to the Status of its price.
const (
	// StatusBelowMinimum means that the price is below the provider's minimum charge.
	StatusBelowMinimum Status = "below_minimum"
	// StatusUnchargeable means that the provider cannot charge the amount, or that the currency is
	// configured with too few decimals.
	StatusUnchargeable Status = "amount_unsupported"
	// StatusCurrencyUnsupported means that the provider does not support the currency.
	StatusCurrencyUnsupported Status = "currency_unsupported"
	// StatusTooManyMeters means that the usage plan bills more meters than a subscription can have.
	StatusTooManyMeters Status = "too_many_meters"
)

// MaxItems is the maximum number of prices per subscription at the provider
// (https://docs.stripe.com/billing/subscriptions/multiple-products).
const MaxItems = 20

// errCurrency means that the provider does not support the currency.
var errCurrency = Obstacle{PriceStatus: StatusCurrencyUnsupported}.err()

// Obstacle is a reason why a plan cannot be sold.
type Obstacle struct {
	// PriceStatus is the status of the plan's price, or of the meter's price.
	PriceStatus Status
	MeterCode   string // "" if it concerns the plan's own price
}

func (o Obstacle) err() *fault.Error {
	refusal := errNotSellable.With("price_status", o.PriceStatus)
	if o.MeterCode != "" {
		refusal = refusal.With("meter_code", o.MeterCode)
	}
	return refusal
}

// MeterPrice is the unit price of a meter, which a usage plan sells in addition to its own price.
type MeterPrice struct {
	MeterCode  string
	PSPPriceID string
	UnitPrice  money.UnitPrice
}

// Meters lists the meter prices that usage plans sell.
type Meters interface {
	// LinkedPrices lists the linked prices of billed meters in a currency, by meter code.
	LinkedPrices(ctx context.Context, currency string) ([]MeterPrice, error)
}

// Obstacles returns, by plan ID, the reasons why plans cannot be sold in a currency. It omits plans
// that can be sold, and plans without a price in the currency. seats is the number of units of a
// seat plan to buy. It reads from the provider only prices that were never read before. A price
// that cannot be read is not an obstacle, because CheckSellable reads it again.
func (s *Service) Obstacles(ctx context.Context, plans []catalog.Plan, currency string, seats int64) (map[uuid.UUID]Obstacle, error) {
	v, err := s.newView(ctx, plans, currency)
	if err != nil {
		return nil, err
	}
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := v.loadPrices(looking, plans); err != nil {
		s.log.WarnContext(ctx, "failed to read prices from the payment provider", "error", err)
	}
	found := map[uuid.UUID]Obstacle{}
	for _, plan := range plans {
		units := int64(1)
		if plan.PricingType == catalog.PricingSeat {
			units = max(seats, 1)
		}
		if price, ok := plan.PriceIn(currency); ok {
			if o, is := v.findObstacle(plan, price, units); is {
				found[plan.ID] = o
			}
		}
	}
	return found, nil
}

// CheckSellable returns nil if the given number of units of a plan can be sold at a price.
// Otherwise it returns plan_not_sellable, or psp_amount_unsupported with the possible amounts.
// Every sale calls it. It reads a linked price again, so that customers never pay another amount
// than the displayed one. It uses the stored state of meter prices.
func (s *Service) CheckSellable(ctx context.Context, plan catalog.Plan, price catalog.Price, units int64) error {
	plans := []catalog.Plan{plan}
	v, err := s.newView(ctx, plans, price.Currency)
	if err != nil {
		return err
	}
	if price.PSPPriceID != nil {
		delete(v.states, *price.PSPPriceID)
	}
	if err := v.loadPrices(ctx, plans); err != nil {
		return err
	}
	if err := v.checkChargeable(price.PriceCents, units); err != nil {
		return err
	}
	if o, is := v.findObstacle(plan, price, units); is {
		return o.err()
	}
	return nil
}

// CheckAmount returns nil if the given number of units can be sold for a one-time payment at an
// amount per unit. Otherwise it returns the errors of CheckSellable.
func (s *Service) CheckAmount(ctx context.Context, currency string, amount, units int64) error {
	v, err := s.newView(ctx, nil, currency)
	if err != nil {
		return err
	}
	if err := v.checkChargeable(amount, units); err != nil {
		return err
	}
	if u, err := charge.UnitsOf(currency, int(v.currency.MinorUnits)); err == nil && amount < (u.Minimum()+units-1)/units {
		return Obstacle{PriceStatus: StatusBelowMinimum}.err()
	}
	return nil
}

// ExplainAmount returns the error of CheckAmount that explains why the provider rejected a one-time
// payment, or else cause. The provider can have other currencies and minimums than this service
// expects.
func (s *Service) ExplainAmount(cause error) error {
	switch {
	case errors.Is(cause, psp.ErrTooSmall):
		return Obstacle{PriceStatus: StatusBelowMinimum}.err().Wrap(cause)
	case errors.Is(cause, psp.ErrCurrency):
		return errCurrency.Wrap(cause)
	}
	return cause
}

// ExplainRefusal explains why the provider rejected a sale. It reads all prices again and returns
// the error of CheckSellable, or else cause. A price can have been deactivated since it was read,
// before the event arrived.
func (s *Service) ExplainRefusal(ctx context.Context, plan catalog.Plan, price catalog.Price, units int64, cause error) error {
	switch {
	case errors.Is(cause, psp.ErrTooSmall): // in a currency whose minimum depends on the exchange rate
		return Obstacle{PriceStatus: StatusBelowMinimum}.err().Wrap(cause)
	case !errors.Is(cause, psp.ErrRefused) && !errors.Is(cause, psp.ErrNotFound):
		return cause
	}
	if err := s.Refresh(ctx); err != nil {
		return errors.Join(cause, err)
	}
	if err := s.CheckSellable(ctx, plan, price, units); err != nil {
		return err
	}
	return cause
}

// view is the known state of the provider's prices for sales in one currency.
type view struct {
	*Service
	currency catalog.Currency
	metered  []MeterPrice // empty if no plan is a usage plan
	states   map[string]state
}

func (s *Service) newView(ctx context.Context, plans []catalog.Plan, currency string) (*view, error) {
	v := &view{Service: s}
	var err error
	v.currency, err = s.catalog.Currency(ctx, currency)
	if errors.Is(err, catalog.ErrNotFound) {
		return v, nil // nothing is sold in an unknown currency
	}
	if err != nil {
		return nil, err
	}
	for _, plan := range plans {
		if plan.PricingType == catalog.PricingUsage && s.meters != nil {
			if v.metered, err = s.meters.LinkedPrices(ctx, currency); err != nil {
				return nil, err
			}
			break
		}
	}
	v.states, err = s.store.states(ctx)
	return v, err
}

// loadPrices reads the prices whose state is unknown.
func (v *view) loadPrices(ctx context.Context, plans []catalog.Plan) error {
	var unknown []string
	need := func(id string) {
		if _, known := v.states[id]; !known {
			unknown = append(unknown, id)
		}
	}
	for _, plan := range plans {
		if price, ok := plan.PriceIn(v.currency.Code); ok && price.PSPPriceID != nil {
			need(*price.PSPPriceID)
		}
	}
	for _, m := range v.metered {
		need(m.PSPPriceID)
	}
	if len(unknown) == 0 {
		return nil
	}
	read, err := v.readStates(ctx, unknown)
	for id, now := range read {
		v.states[id] = now
	}
	return err
}

// checkChargeable returns an error if the provider cannot charge the amount, or the total for that
// number of units.
func (v *view) checkChargeable(amount, units int64) error {
	if !charge.Supports(v.currency.Code) {
		return errCurrency
	}
	u, err := charge.UnitsOf(v.currency.Code, int(v.currency.MinorUnits))
	if err == nil {
		err = u.Check(amount)
	}
	if err == nil && amount > 0 && units > u.Maximum()/amount {
		err = charge.ErrUnsupported.With("possible_amounts", []int64{u.Maximum()})
	}
	return err
}

// findObstacle returns the reason why a plan cannot be sold, if any. A price of unknown state is
// not an obstacle.
func (v *view) findObstacle(plan catalog.Plan, price catalog.Price, units int64) (Obstacle, bool) {
	u, err := charge.UnitsOf(v.currency.Code, int(v.currency.MinorUnits))
	switch {
	case !charge.Supports(v.currency.Code):
		return Obstacle{PriceStatus: StatusCurrencyUnsupported}, true
	case err != nil || len(u.NearestChargeable(price.PriceCents)) > 0:
		return Obstacle{PriceStatus: StatusUnchargeable}, true
	case price.PriceCents > 0 && price.PriceCents < (u.Minimum()+units-1)/units:
		return Obstacle{PriceStatus: StatusBelowMinimum}, true
	}
	if price.PSPPriceID != nil {
		if now, known := v.states[*price.PSPPriceID]; known {
			if status, _ := statusOf(plan, price, now); status != StatusLinked {
				return Obstacle{PriceStatus: status}, true
			}
		}
	}
	if plan.PricingType != catalog.PricingUsage {
		return Obstacle{}, false
	}
	if 1+len(v.metered) > MaxItems {
		return Obstacle{PriceStatus: StatusTooManyMeters}, true
	}
	for _, m := range v.metered {
		now, known := v.states[m.PSPPriceID]
		if !known {
			continue
		}
		if status := meterStatus(plan, m, v.currency.Code, now); status != StatusLinked {
			return Obstacle{PriceStatus: status, MeterCode: m.MeterCode}, true
		}
	}
	return Obstacle{}, false
}

// statusOf compares a linked price with its state at the provider.
func statusOf(plan catalog.Plan, price catalog.Price, now state) (Status, []Mismatch) {
	switch {
	case now.missing:
		return StatusMissingAtStripe, nil
	case !now.Active:
		return StatusInactive, nil
	}
	if found := mismatches(plan, price, now.Price); len(found) > 0 {
		return StatusMismatched, found
	}
	return StatusLinked, nil
}

// meterStatus is statusOf for the price of a meter that is sold with a plan. The provider bills all
// prices of a checkout at the same interval.
func meterStatus(plan catalog.Plan, m MeterPrice, currency string, now state) Status {
	sameInterval := now.IntervalUnit == plan.Interval.Unit && now.IntervalCount == int(plan.Interval.Count)
	switch {
	case now.missing:
		return StatusMissingAtStripe
	case !now.Active:
		return StatusInactive
	case len(meterMismatches(currency, m.UnitPrice, now.Price)) > 0 || !sameInterval:
		return StatusMismatched
	default:
		return StatusLinked
	}
}

// meterMismatches compares a provider price with the unit price of a meter.
func meterMismatches(currency string, unit money.UnitPrice, remote psp.Price) []Mismatch {
	var found []Mismatch
	note := func(field string, same bool, expected, actual any) {
		if !same {
			found = append(found, Mismatch{Field: field, Expected: expected, Actual: actual})
		}
	}
	note("currency", remote.Currency == currency, currency, remote.Currency)
	note("amount", remote.UnitPrice == unit.String(), unit.String(), remote.UnitPrice)
	if !remote.Metered {
		note("usage_type", false, "metered", "licensed")
	}
	note("active", remote.Active, true, remote.Active)
	return found
}

// BillsEvery reports whether the provider price can bill usage in the currency at the interval.
func (s *Service) BillsEvery(ctx context.Context, pspPriceID, currency string, every catalog.Interval) (bool, error) {
	now, err := s.readState(ctx, pspPriceID)
	return !now.missing && now.Active && now.Metered && now.Currency == currency &&
		now.IntervalUnit == every.Unit && now.IntervalCount == int(every.Count), err
}

// CheckMeter returns psp_price_mismatch if the provider price differs from the meter's price.
func (s *Service) CheckMeter(ctx context.Context, currency string, unit money.UnitPrice, pspPriceID string) error {
	now, err := s.readState(ctx, pspPriceID)
	if err != nil {
		return err
	}
	if now.missing {
		return mismatchError([]Mismatch{{Field: "psp_price_id", Expected: pspPriceID}})
	}
	if found := meterMismatches(currency, unit, now.Price); len(found) > 0 {
		return mismatchError(found)
	}
	return nil
}

// warning returns the reason why a correctly linked price cannot be sold, or "". minimum is the
// provider's minimum charge if the price is below it.
func (s *Service) warning(ctx context.Context, plan catalog.Plan, price catalog.Price) (reason Status, minimum int64, err error) {
	v, err := s.newView(ctx, []catalog.Plan{plan}, price.Currency)
	if err != nil {
		return "", 0, err
	}
	u, err := charge.UnitsOf(v.currency.Code, int(v.currency.MinorUnits))
	switch {
	case !charge.Supports(v.currency.Code):
		return StatusCurrencyUnsupported, 0, nil
	case err != nil:
		return StatusUnchargeable, 0, nil //nolint:nilerr // the error is the reason
	case price.PriceCents > 0 && price.PriceCents < u.Minimum():
		return StatusBelowMinimum, u.Minimum(), nil
	case 1+len(v.metered) > MaxItems:
		return StatusTooManyMeters, 0, nil
	default:
		return "", 0, nil
	}
}
