package catalog

import (
	"context"
	"errors"
	"slices"
)

// Currencies lists all currencies, active or not, by code.
func (s *Service) Currencies(ctx context.Context) ([]Currency, error) { return s.store.currencies(ctx) }

// Currency returns a currency by its upper-case code, active or not, else
// ErrNotFound.
func (s *Service) Currency(ctx context.Context, code string) (Currency, error) {
	return s.store.currency(ctx, code)
}

// CurrencyExists reports whether there is a currency with an upper-case code,
// active or not.
func (s *Service) CurrencyExists(ctx context.Context, code string) (bool, error) {
	_, err := s.store.currency(ctx, code)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// WithActivePrices returns a plan without its prices in inactive currencies: they cannot be
// bought, while subscriptions in them go on. A price in an inactive currency can be
// set all the same, ahead of the day on which the currency becomes active.
func (s *Service) WithActivePrices(ctx context.Context, plan Plan) (Plan, error) {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return Plan{}, err
	}
	plan.Prices = filterActivePrices(plan.Prices, currencies)
	return plan, nil
}

// filterActivePrices returns the prices in currencies that are active. It changes
// its first argument.
func filterActivePrices(prices []Price, currencies []Currency) []Price {
	return slices.DeleteFunc(prices, func(p Price) bool {
		i := slices.IndexFunc(currencies, func(c Currency) bool { return c.Code == p.Currency })
		return i < 0 || !currencies[i].IsActive
	})
}
