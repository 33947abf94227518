package catalog

import (
	_ "embed"

	"github.com/tenantry/tenantry/internal/money"
)

//go:embed demo.yaml
var demo []byte

// Catalog is a catalog as data: what a file has, what Export writes and what
// Apply brings into the database. Slugs and codes tell its records apart.
type Catalog struct {
	Currencies []CurrencyData `yaml:"currencies,omitempty"`
	Features   []FeatureData  `yaml:"features,omitempty"`
	Products   []ProductData  `yaml:"products,omitempty"`
	// Meters are exported and applied by the usage domain.
	Meters []MeterData `yaml:"meters,omitempty"`

	lines lines // of the file that it was read from
}

// CurrencyData is a currency that prices are in.
type CurrencyData struct {
	Code       string `yaml:"code"`
	Name       string `yaml:"name"`
	Symbol     string `yaml:"symbol"`
	MinorUnits int32  `yaml:"minor_units"`
	IsActive   *bool  `yaml:"is_active,omitempty"` // absent is true, here and below
}

// FeatureData is a feature.
type FeatureData struct {
	Code        string   `yaml:"code"`
	Name        Text     `yaml:"name"`
	Description Text     `yaml:"description,omitempty"`
	IsActive    *bool    `yaml:"is_active,omitempty"`
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
	Slug         string      `yaml:"slug"`
	Name         Text        `yaml:"name"`
	Description  Text        `yaml:"description,omitempty"`
	PricingType  PricingType `yaml:"pricing_type"`
	BillingCycle string      `yaml:"billing_cycle"`
	// IntervalUnit and IntervalCount win over the billing cycle; absent ("" and 0)
	// they are what it stands for.
	IntervalUnit  string               `yaml:"interval_unit,omitempty"`
	IntervalCount int32                `yaml:"interval_count,omitempty"`
	TrialDays     int32                `yaml:"trial_days,omitempty"`
	SortOrder     int32                `yaml:"sort_order,omitempty"`
	IsActive      *bool                `yaml:"is_active,omitempty"`
	Metadata      Metadata             `yaml:"metadata,omitempty"`
	Prices        map[string]PriceData `yaml:"prices,omitempty"`       // by currency code
	Entitlements  map[string]Grant     `yaml:"entitlements,omitempty"` // by feature code
}

// interval is the time that the plan's prices pay for.
func (p PlanData) interval() Interval {
	interval, _ := CycleInterval(p.BillingCycle)
	if p.IntervalUnit != "" {
		interval.Unit = p.IntervalUnit
	}
	if p.IntervalCount != 0 {
		interval.Count = p.IntervalCount
	}
	return interval
}

// MeterData is a meter with its prices (spec: Meter).
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

// PriceData is the price of a plan in one currency: minor units, or minor units
// and a link.
type PriceData struct {
	PriceCents int64
	Link       Link
}

// UnitPriceData is the price of one unit of a meter in one currency: minor units,
// or minor units and a link.
type UnitPriceData struct {
	UnitPrice money.UnitPrice
	Link      Link
}

// Link says which price of the payment provider a price is. Unless it is given a
// price keeps its link for as long as its terms stay.
type Link struct {
	Given      bool
	PSPPriceID *string // nil is none
}

// Grant is what an entitlement gives: a quota, or the feature without a limit,
// which is written as true.
type Grant struct {
	Quota *int64 // nil is without a limit
}

// Type tells which type of entitlement g makes.
func (g Grant) Type() EntitlementType {
	if g.Quota == nil {
		return Boolean
	}
	return Quota
}

// Active tells whether the meter is in use.
func (m MeterData) Active() bool { return active(m.IsActive) }

// Demo returns the sandbox's catalog.
func Demo() (Catalog, error) { return Parse(demo) }
