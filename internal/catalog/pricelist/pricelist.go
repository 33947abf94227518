// Package pricelist has the catalog as a file: what can be sold (products, plans,
// prices, features, entitlements, currencies) and the meters, written as YAML. It
// reads and checks such files, shows what they would change, changes it, and writes
// the file of a database (rules: catalog#the-catalog-as-a-file).
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

// Catalog is the content of a file: what Parse reads, Export writes and Apply
// brings into the database. Records are identified by their slugs and codes.
type Catalog struct {
	Currencies []CurrencyData `yaml:"currencies,omitempty"`
	Features   []FeatureData  `yaml:"features,omitempty"`
	Products   []ProductData  `yaml:"products,omitempty"`
	Meters     []MeterData    `yaml:"meters,omitempty"`

	lines lines // of the file that it was read from
}

// CurrencyData is a currency that prices are in.
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

// Interval returns the time that the plan's prices pay for.
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

// PriceData is the price of a plan in one currency. A file has it as a number, or
// as a mapping when it is linked to a price of the payment provider.
type PriceData struct {
	PriceCents int64 // minor units
	Link       Link
}

// UnitPriceData is the price of one unit of a meter in one currency, in the same
// two forms.
type UnitPriceData struct {
	UnitPrice money.UnitPrice // minor units
	Link      Link
}

// Link says which price of the payment provider a price is linked to. When it is
// not given, a price keeps its link for as long as its terms stay the same.
type Link struct {
	Given      bool
	PSPPriceID *string // nil means no link
}

// LinkTo returns the link of a price as Export writes it: not given when there is
// none.
func LinkTo(pspPriceID *string) Link { return Link{Given: pspPriceID != nil, PSPPriceID: pspPriceID} }

// Grant is what an entitlement gives: a quota, or the feature without a limit, which
// a file has as true.
type Grant struct {
	Quota *int64 // nil means without a limit
}

// Type returns the type of entitlement that g makes.
func (g Grant) Type() catalog.EntitlementType {
	if g.Quota == nil {
		return catalog.TypeBoolean
	}
	return catalog.TypeQuota
}

// Switch returns a switch as Export writes it: nil when it is on, which is the
// default.
func Switch(on bool) *bool {
	if on {
		return nil
	}
	return &on
}

// isOn reads a switch, whose default is on.
func isOn(is *bool) bool { return is == nil || *is }
