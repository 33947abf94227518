package catalog

import (
	"context"
	"errors"
	"slices"
)

// Currencies lists active and inactive currencies, sorted by code.
func (s *Service) Currencies(ctx context.Context) ([]Currency, error) { return s.store.currencies(ctx) }

// Currency returns the active or inactive currency with an upper-case code, or ErrNotFound.
func (s *Service) Currency(ctx context.Context, code string) (Currency, error) {
	return s.store.currency(ctx, code)
}

// CurrencyExists reports whether a currency with the upper-case code exists, active or not.
func (s *Service) CurrencyExists(ctx context.Context, code string) (bool, error) {
	_, err := s.store.currency(ctx, code)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// WithActivePrices returns the plan without its prices in inactive currencies. Such prices cannot
// be bought, but existing subscriptions keep them. They can be set in advance, before the currency
// becomes active.
func (s *Service) WithActivePrices(ctx context.Context, plan Plan) (Plan, error) {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return Plan{}, err
	}
	plan.Prices = filterActivePrices(plan.Prices, currencies)
	return plan, nil
}

// filterActivePrices returns the prices in active currencies. It modifies prices.
func filterActivePrices(prices []Price, currencies []Currency) []Price {
	return slices.DeleteFunc(prices, func(p Price) bool {
		i := slices.IndexFunc(currencies, func(c Currency) bool { return c.Code == p.Currency })
		return i < 0 || !currencies[i].IsActive
	})
}
