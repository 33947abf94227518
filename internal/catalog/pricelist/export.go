package pricelist

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// Export reads all catalog records and meters that are not deleted, and the currencies that their
// prices use. The order depends only on the content, so equal catalogs produce equal data.
func (s *Service) Export(ctx context.Context) (Catalog, error) {
	var c Catalog
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		stored, err := s.meters.All(ctx)
		if err != nil {
			return err
		}
		// The lock prevents catalog changes between two queries.
		if err := s.catalog.Lock(ctx); err != nil {
			return err
		}
		c, err = s.export(ctx, stored)
		return err
	})
	return c, err
}

func (s *Service) export(ctx context.Context, stored []meters.Entry) (Catalog, error) {
	var c Catalog
	features, err := s.catalog.AllFeatures(ctx)
	if err != nil {
		return c, err
	}
	for _, f := range features {
		data, err := featureData(f)
		if err != nil {
			return c, err
		}
		c.Features = append(c.Features, data)
	}
	if c.Products, err = s.exportProducts(ctx); err != nil {
		return c, err
	}
	for _, e := range stored {
		c.Meters = append(c.Meters, meterData(e))
	}
	packs, err := s.packs.All(ctx)
	if err != nil {
		return c, err
	}
	slices.SortFunc(packs, func(a, b pack.Pack) int { return cmp.Compare(a.Slug, b.Slug) })
	for _, p := range packs {
		c.Packs = append(c.Packs, packData(p))
	}
	currencies, err := s.catalog.Currencies(ctx)
	if err != nil {
		return c, err
	}
	used := c.usedCurrencies()
	for _, currency := range currencies {
		if used[currency.Code] {
			c.Currencies = append(c.Currencies, currencyData(currency))
		}
	}
	return c, nil
}

// exportProducts reads the products by slug, each with its plans by sort order and then by slug.
func (s *Service) exportProducts(ctx context.Context) ([]ProductData, error) {
	products, err := s.catalog.AllProducts(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(products, func(a, b catalog.Product) int { return cmp.Compare(a.Slug, b.Slug) })
	var exported []ProductData
	for _, p := range products {
		data, err := productData(p)
		if err != nil {
			return nil, err
		}
		exported = append(exported, data)
	}
	plans, err := s.catalog.AllPlans(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(plans, func(a, b catalog.Plan) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Slug, b.Slug))
	})
	for _, p := range plans {
		data, err := planData(p)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(exported, func(product ProductData) bool { return product.Slug == p.Product.Slug })
		if i >= 0 { // skip plans of deleted products
			exported[i].Plans = append(exported[i].Plans, data)
		}
	}
	return exported, nil
}

// usedCurrencies returns the codes of the currencies that the prices of c use.
func (c Catalog) usedCurrencies() map[string]bool {
	used := map[string]bool{}
	for _, product := range c.Products {
		for _, plan := range product.Plans {
			for code := range plan.Prices {
				used[code] = true
			}
		}
	}
	for _, p := range c.Packs {
		for code := range p.Prices {
			used[code] = true
		}
	}
	for _, meter := range c.Meters {
		for code := range meter.Prices {
			used[code] = true
		}
	}
	return used
}

func currencyData(c catalog.Currency) CurrencyData {
	return CurrencyData{Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits, IsActive: BoolOrNil(c.IsActive)}
}

func featureData(f catalog.Feature) (FeatureData, error) {
	metadata, err := metadataOf(f.Metadata)
	if err != nil {
		return FeatureData{}, fmt.Errorf("feature %s: metadata: %w", f.Code, err)
	}
	return FeatureData{
		Code: f.Code, Name: Text(f.Name), Description: Text(f.Description), IsActive: BoolOrNil(f.IsActive), SortOrder: f.SortOrder, Metadata: metadata,
	}, nil
}

func productData(p catalog.Product) (ProductData, error) {
	metadata, err := metadataOf(p.Metadata)
	if err != nil {
		return ProductData{}, fmt.Errorf("product %s: metadata: %w", p.Slug, err)
	}
	return ProductData{
		Slug: p.Slug, Name: Text(p.Name), Description: Text(p.Description), IsActive: BoolOrNil(p.IsActive), Metadata: metadata,
	}, nil
}

func planData(p catalog.Plan) (PlanData, error) {
	metadata, err := metadataOf(p.Metadata)
	if err != nil {
		return PlanData{}, fmt.Errorf("plan %s: metadata: %w", p.Slug, err)
	}
	data := PlanData{
		Slug: p.Slug, Name: Text(p.Name), Description: Text(p.Description), PricingType: p.PricingType, BillingCycle: p.BillingCycle,
		TrialDays: p.TrialDays, TrialRequiresCard: BoolOrNil(p.CardForTrial), IsDefault: p.IsDefault,
		SortOrder: p.SortOrder, IsActive: BoolOrNil(p.IsActive), Metadata: metadata,
		Prices: map[string]PriceData{}, Entitlements: map[string]Grant{},
	}
	if data.Interval() != p.Interval {
		data.IntervalUnit, data.IntervalCount = p.Interval.Unit, p.Interval.Count
	}
	for _, price := range p.Prices {
		data.Prices[price.Currency] = PriceData{PriceCents: price.PriceCents, Link: LinkTo(price.PSPPriceID)}
	}
	for _, e := range p.Entitlements {
		data.Entitlements[e.Feature.Code] = Grant{Quota: e.Value}
	}
	return data, nil
}

func meterData(e meters.Entry) MeterData {
	data := MeterData{
		Code: e.Code, Name: e.Name, AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset),
		QuotaEnforcement: string(e.Enforcement), UnitLabel: e.UnitLabel, IsActive: BoolOrNil(e.Active),
		Prices: map[string]UnitPriceData{},
	}
	for _, p := range e.Prices {
		data.Prices[p.Currency] = UnitPriceData{UnitPrice: p.UnitPrice, Link: LinkTo(p.PSPPriceID)}
	}
	return data
}

// WithoutLinks returns c without the payment provider's IDs, for a database that uses another
// account of the provider.
func (c Catalog) WithoutLinks() Catalog {
	for _, product := range c.Products {
		for _, plan := range product.Plans {
			for code, price := range plan.Prices {
				plan.Prices[code] = PriceData{PriceCents: price.PriceCents}
			}
		}
	}
	for _, meter := range c.Meters {
		for code, price := range meter.Prices {
			meter.Prices[code] = UnitPriceData{UnitPrice: price.UnitPrice}
		}
	}
	return c
}
