package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// PublicMaxAge is how long the public catalog may be kept
// (rules: catalog#public-catalog).
const PublicMaxAge = 60 * time.Second

// Public is what anybody may see of the catalog: whatever is active, as part of
// something that is active itself (rules: catalog#public-catalog). It is shared, so
// nobody may change it.
type Public struct {
	Products   []Product  // oldest first
	Plans      []Plan     // those on sale, by sort order
	Features   []Feature  // by sort order
	Currencies []Currency // by code
	Metered    []meteredPrice
}

// meteredPrice is what a unit of a meter costs on usage plans in a currency.
type meteredPrice struct {
	Code, Name string
	UnitLabel  *string
	Currency   string
	UnitPrice  money.UnitPrice
}

// Public returns the public catalog. It is at most PublicMaxAge old unless the database is
// away, and has every change that was made on this instance.
func (s *Service) Public(ctx context.Context) (*Public, error) { return s.cache.Get(ctx) }

// InvalidateCache must be called when a change of the catalog has been committed. Readers on
// this instance then see it at once, those on other instances within PublicMaxAge.
func (s *Service) InvalidateCache() { s.cache.Drop() }

// read builds the public catalog with seven queries, however large it is.
func (s *Service) read(ctx context.Context) (*Public, error) {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return nil, err
	}
	products, err := s.store.products(ctx)
	if err != nil {
		return nil, err
	}
	features, err := s.store.features(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := s.store.plans(ctx)
	if err != nil {
		return nil, err
	}
	public := publicOf(products, plans, features, currencies)
	metered, err := s.store.meteredPrices(ctx)
	public.Metered = slices.DeleteFunc(metered, func(p meteredPrice) bool {
		return !slices.ContainsFunc(public.Currencies, func(c Currency) bool { return c.Code == p.Currency })
	})
	return public, err
}

// publicOf returns what is active. It changes its arguments.
func publicOf(products []Product, plans []Plan, features []Feature, currencies []Currency) *Public {
	plans = filterOnSale(plans, currencies)
	for i := range plans {
		plans[i] = plans[i].WithActiveEntitlements()
	}
	return &Public{
		Products:   slices.DeleteFunc(products, func(p Product) bool { return !p.IsActive }),
		Plans:      plans,
		Features:   slices.DeleteFunc(features, func(f Feature) bool { return !f.IsActive }),
		Currencies: slices.DeleteFunc(currencies, func(c Currency) bool { return !c.IsActive }),
	}
}

// filterOnSale returns the plans on sale, without prices in inactive currencies. It changes plans.
func filterOnSale(plans []Plan, currencies []Currency) []Plan {
	plans = slices.DeleteFunc(plans, func(p Plan) bool { return !p.IsOnSale() })
	for i := range plans {
		plans[i].Prices = filterActivePrices(plans[i].Prices, currencies)
	}
	return plans
}

// WithActiveEntitlements returns the plan as it is shown: without entitlements to inactive features. Their
// quotas hold all the same.
func (p Plan) WithActiveEntitlements() Plan {
	p.Entitlements = slices.DeleteFunc(slices.Clone(p.Entitlements), func(e Entitlement) bool { return !e.Feature.IsActive })
	return p
}
