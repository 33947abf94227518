package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

// PublicMaxAge is the maximum age of the cached public catalog (rules: catalog#public-catalog).
const PublicMaxAge = 60 * time.Second

// PublicCatalog is the public catalog: all active records whose parents are active too
// (rules: catalog#public-catalog). It is shared and must not be modified.
type PublicCatalog struct {
	Products   []Product  // oldest first
	Plans      []Plan     // plans on sale, by sort order
	Features   []Feature  // by sort order
	Currencies []Currency // by code
	Metered    []meteredPrice
}

// meteredPrice is the unit price of a meter on usage plans in one currency.
type meteredPrice struct {
	Code, Name string
	UnitLabel  *string
	Currency   string
	UnitPrice  money.UnitPrice
}

// Public returns the public catalog. It is at most PublicMaxAge old, unless the database is
// unavailable, and includes all changes made on this instance.
func (s *Service) Public(ctx context.Context) (*PublicCatalog, error) { return s.cache.Get(ctx) }

// InvalidateCache must be called after a catalog change commits. Readers on this instance see the
// change immediately, readers on other instances within PublicMaxAge.
func (s *Service) InvalidateCache() { s.cache.Drop() }

// read builds the public catalog. It runs seven queries, whatever the size of the catalog.
func (s *Service) read(ctx context.Context) (*PublicCatalog, error) {
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

// publicOf returns the active records. It modifies its arguments.
func publicOf(products []Product, plans []Plan, features []Feature, currencies []Currency) *PublicCatalog {
	plans = filterOnSale(plans, currencies)
	for i := range plans {
		plans[i] = plans[i].WithActiveEntitlements()
	}
	return &PublicCatalog{
		Products:   slices.DeleteFunc(products, func(p Product) bool { return !p.IsActive }),
		Plans:      plans,
		Features:   slices.DeleteFunc(features, func(f Feature) bool { return !f.IsActive }),
		Currencies: slices.DeleteFunc(currencies, func(c Currency) bool { return !c.IsActive }),
	}
}

// filterOnSale returns the plans on sale, without their prices in inactive currencies. It modifies
// plans.
func filterOnSale(plans []Plan, currencies []Currency) []Plan {
	plans = slices.DeleteFunc(plans, func(p Plan) bool { return !p.IsOnSale() })
	for i := range plans {
		plans[i].Prices = filterActivePrices(plans[i].Prices, currencies)
	}
	return plans
}

// WithActiveEntitlements returns the plan for display, without entitlements to inactive features.
// The quotas of those entitlements still apply.
func (p Plan) WithActiveEntitlements() Plan {
	p.Entitlements = slices.DeleteFunc(slices.Clone(p.Entitlements), func(e Entitlement) bool { return !e.Feature.IsActive })
	return p
}
