package catalog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Export reads the catalog as data, without its meters: everything that is not
// deleted, and of the currencies those that prices are in, which are those of
// plans and the given ones. The order is one of the contents alone, so that equal
// catalogs are equal data.
func (s *Service) Export(ctx context.Context, currencies []string) (Catalog, error) {
	var c Catalog
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		err := s.store.q(ctx).LockCatalog(ctx) // nobody changes it between two of the queries
		if err == nil {
			c, err = s.export(ctx, currencies)
		}
		return err
	})
	return c, err
}

func (s *Service) export(ctx context.Context, codes []string) (Catalog, error) {
	var c Catalog
	features, err := s.store.features(ctx)
	if err != nil {
		return c, err
	}
	if c.Features, err = each(features, featureData); err != nil {
		return c, err
	}
	products, err := s.store.products(ctx)
	if err != nil {
		return c, err
	}
	slices.SortFunc(products, func(a, b Product) int { return cmp.Compare(a.Slug, b.Slug) })
	if c.Products, err = each(products, productData); err != nil {
		return c, err
	}
	plans, err := s.store.plans(ctx)
	if err != nil {
		return c, err
	}
	slices.SortFunc(plans, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Slug, b.Slug))
	})
	used := map[string]bool{}
	for _, code := range codes {
		used[code] = true
	}
	for _, p := range plans {
		data, err := planData(p)
		if err != nil {
			return c, err
		}
		for code := range data.Prices {
			used[code] = true
		}
		i := slices.IndexFunc(c.Products, func(product ProductData) bool { return product.Slug == p.Product.Slug })
		if i >= 0 { // a plan of a deleted product is not sold any more
			c.Products[i].Plans = append(c.Products[i].Plans, data)
		}
	}
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return c, err
	}
	for _, currency := range currencies {
		if used[currency.Code] {
			c.Currencies = append(c.Currencies, currencyData(currency))
		}
	}
	return c, nil
}

func currencyData(c Currency) CurrencyData {
	return CurrencyData{Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits, IsActive: Switch(c.IsActive)}
}

func featureData(f Feature) (FeatureData, error) {
	metadata, err := metadataOf(f.Metadata)
	if err != nil {
		return FeatureData{}, fmt.Errorf("feature %s: metadata: %w", f.Code, err)
	}
	return FeatureData{Code: f.Code, Name: f.Name, Description: f.Description, IsActive: Switch(f.IsActive), Metadata: metadata}, nil
}

func productData(p Product) (ProductData, error) {
	metadata, err := metadataOf(p.Metadata)
	if err != nil {
		return ProductData{}, fmt.Errorf("product %s: metadata: %w", p.Slug, err)
	}
	return ProductData{Slug: p.Slug, Name: p.Name, Description: p.Description, IsActive: Switch(p.IsActive), Metadata: metadata}, nil
}

func planData(p Plan) (PlanData, error) {
	metadata, err := metadataOf(p.Metadata)
	if err != nil {
		return PlanData{}, fmt.Errorf("plan %s: metadata: %w", p.Slug, err)
	}
	data := PlanData{
		Slug: p.Slug, Name: p.Name, Description: p.Description, PricingType: p.PricingType, BillingCycle: p.BillingCycle,
		TrialDays: p.TrialDays, SortOrder: p.SortOrder, IsActive: Switch(p.IsActive), Metadata: metadata,
		Prices: map[string]PriceData{}, Entitlements: map[string]Grant{},
	}
	if data.interval() != p.Interval {
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

// Switch is how a file has a switch that is on unless it says otherwise.
func Switch(on bool) *bool {
	if on {
		return nil
	}
	return &on
}

// LinkTo is how a file has a link: not at all where there is none.
func LinkTo(pspPriceID *string) Link { return Link{Given: pspPriceID != nil, PSPPriceID: pspPriceID} }

// WithoutLinks is c without the payment provider's ids, for a database that works
// with another account of it.
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

// YAML writes c as Parse reads it; equal catalogs are the same bytes.
func (c Catalog) YAML() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(c); err != nil {
		return nil, fmt.Errorf("catalog: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

// MarshalYAML writes a mapping by locale.
func (t Text) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, locale := range slices.Sorted(maps.Keys(t)) {
		node.Content = append(node.Content, textNode(locale), textNode(t[locale]))
	}
	return node, nil
}

// textNode is a text, in quotes where it would be read as something else, and as
// a block of lines where those are plain enough: the library's reader does not
// take every block that its writer writes.
func textNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	plain := !strings.ContainsAny(text, "\t\r") && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\n")
	for line := range strings.SplitSeq(text, "\n") {
		plain = plain && !strings.HasSuffix(line, " ")
	}
	if strings.Contains(text, "\n") && !plain {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}
