// Package pricelist imports and exports the catalog (products, plans, prices, features,
// entitlements, currencies, packs) and the meters as a YAML file. It parses and checks such files,
// previews and applies their changes, and exports the catalog of a database
// (rules: catalog#the-catalog-as-a-file).
package pricelist

import (
	_ "embed"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/money"
)

//go:embed demo.yaml
var demo []byte

// Demo returns the sandbox's catalog.
func Demo() (Catalog, error) { return Parse(demo) }

// Catalog is the content of a file, which Parse reads, Export returns and Apply imports. Records
// are identified by their slugs and codes.
type Catalog struct {
	Currencies []CurrencyData `yaml:"currencies,omitempty"`
	Features   []FeatureData  `yaml:"features,omitempty"`
	Products   []ProductData  `yaml:"products,omitempty"`
	Meters     []MeterData    `yaml:"meters,omitempty"`
	Packs      []PackData     `yaml:"packs,omitempty"`

	lines lines // line numbers in the parsed file
}

// CurrencyData is a currency of prices.
type CurrencyData struct {
	Code       string `yaml:"code"`
	Name       string `yaml:"name"`
	Symbol     string `yaml:"symbol"`
	MinorUnits int32  `yaml:"minor_units"`
	IsActive   *bool  `yaml:"is_active,omitempty"` // absent means true, here and below
}

// FeatureData is a feature.
type FeatureData struct {
	Code        string   `yaml:"code"`
	Name        Text     `yaml:"name"`
	Description Text     `yaml:"description,omitempty"`
	IsActive    *bool    `yaml:"is_active,omitempty"`
	SortOrder   int32    `yaml:"sort_order,omitempty"`
	Metadata    Metadata `yaml:"metadata,omitempty"`
}

// ProductData is a product with its plans.
type ProductData struct {
	Slug        string     `yaml:"slug"`
	Name        Text       `yaml:"name"`
	Description Text       `yaml:"description,omitempty"`
	IsActive    *bool      `yaml:"is_active,omitempty"`
	Metadata    Metadata   `yaml:"metadata,omitempty"`
	Plans       []PlanData `yaml:"plans,omitempty"`
}

// PlanData is a plan with its prices and entitlements.
type PlanData struct {
	Slug         string              `yaml:"slug"`
	Name         Text                `yaml:"name"`
	Description  Text                `yaml:"description,omitempty"`
	PricingType  catalog.PricingType `yaml:"pricing_type"`
	BillingCycle string              `yaml:"billing_cycle"`
	// IntervalUnit and IntervalCount override the interval of the billing cycle;
	// "" and 0 leave it as it is.
	IntervalUnit  string `yaml:"interval_unit,omitempty"`
	IntervalCount int32  `yaml:"interval_count,omitempty"`
	TrialDays     int32  `yaml:"trial_days,omitempty"`
	// TrialRequiresCard is true unless the file says otherwise.
	TrialRequiresCard *bool `yaml:"trial_requires_card,omitempty"`
	// IsDefault is false unless the file says otherwise.
	IsDefault    bool                 `yaml:"is_default,omitempty"`
	SortOrder    int32                `yaml:"sort_order,omitempty"`
	IsActive     *bool                `yaml:"is_active,omitempty"`
	Metadata     Metadata             `yaml:"metadata,omitempty"`
	Prices       map[string]PriceData `yaml:"prices,omitempty"`       // by currency code
	Entitlements map[string]Grant     `yaml:"entitlements,omitempty"` // by feature code
}

// Interval returns the interval of the plan's prices.
func (p PlanData) Interval() catalog.Interval {
	interval, _ := catalog.CycleInterval(p.BillingCycle)
	if p.IntervalUnit != "" {
		interval.Unit = p.IntervalUnit
	}
	if p.IntervalCount != 0 {
		interval.Count = p.IntervalCount
	}
	return interval
}

// MeterData is a meter with its prices.
type MeterData struct {
	Code             string                   `yaml:"code"`
	Name             string                   `yaml:"name"`
	AggregationType  string                   `yaml:"aggregation_type"`
	ResetInterval    string                   `yaml:"reset_interval"`
	QuotaEnforcement string                   `yaml:"quota_enforcement"`
	UnitLabel        *string                  `yaml:"unit_label,omitempty"`
	IsActive         *bool                    `yaml:"is_active,omitempty"`
	Prices           map[string]UnitPriceData `yaml:"prices,omitempty"` // by currency code
}

// PackData is a pack of units of a meter with its prices.
type PackData struct {
	Slug             string           `yaml:"slug"`
	Name             Text             `yaml:"name"`
	Description      Text             `yaml:"description,omitempty"`
	FeatureCode      string           `yaml:"feature_code"`
	Amount           quantity         `yaml:"amount"`
	ExpiresAfterDays *int32           `yaml:"expires_after_days,omitempty"` // absent means never
	IsActive         *bool            `yaml:"is_active,omitempty"`
	Prices           map[string]int64 `yaml:"prices"` // minor units by currency code
}

// PriceData is the price of a plan in one currency. In a file it is a number, or a mapping if it is
// linked to a price of the payment provider.
type PriceData struct {
	PriceCents int64 // minor units
	Link       Link
}

// UnitPriceData is the price of one unit of a meter in one currency. In a file it has the same two
// forms as PriceData.
type UnitPriceData struct {
	UnitPrice money.UnitPrice // minor units
	Link      Link
}

// Link is the link of a price to a price of the payment provider. If it is not given, a price keeps
// its link while its terms are unchanged.
type Link struct {
	Given      bool
	PSPPriceID *string // nil to unlink
}

// LinkTo returns the link of a price for Export. Given is false if pspPriceID is nil.
func LinkTo(pspPriceID *string) Link { return Link{Given: pspPriceID != nil, PSPPriceID: pspPriceID} }

// Grant is the value of an entitlement: a quota, or unlimited access, which is true in a file.
type Grant struct {
	Quota *int64 // nil means unlimited
}

// Type returns the entitlement type of g.
func (g Grant) Type() catalog.EntitlementType {
	if g.Quota == nil {
		return catalog.TypeBoolean
	}
	return catalog.TypeQuota
}

// BoolOrNil returns a boolean for Export: nil for true, which is the default.
func BoolOrNil(on bool) *bool {
	if on {
		return nil
	}
	return &on
}

// boolOrTrue returns the value of a boolean that defaults to true.
func boolOrTrue(is *bool) bool { return is == nil || *is }
