package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

//go:embed demo.yaml
var demo []byte

// Catalog is a catalog as data: what Apply brings into the database. Slugs and
// codes tell its records apart.
type Catalog struct {
	Features []FeatureData `yaml:"features"`
	Products []ProductData `yaml:"products"`
	// Meters are applied by the usage domain.
	Meters []MeterData `yaml:"meters"`
}

// FeatureData is a feature.
type FeatureData struct {
	Code        string `yaml:"code"`
	Name        Text   `yaml:"name"`
	Description Text   `yaml:"description"`
	IsActive    *bool  `yaml:"is_active"` // absent is true, here and below
}

// ProductData is a product with its plans.
type ProductData struct {
	Slug        string     `yaml:"slug"`
	Name        Text       `yaml:"name"`
	Description Text       `yaml:"description"`
	IsActive    *bool      `yaml:"is_active"`
	Plans       []PlanData `yaml:"plans"`
}

// PlanData is a plan with its prices and entitlements.
type PlanData struct {
	Slug         string           `yaml:"slug"`
	Name         Text             `yaml:"name"`
	Description  Text             `yaml:"description"`
	PricingType  PricingType      `yaml:"pricing_type"`
	BillingCycle string           `yaml:"billing_cycle"`
	TrialDays    int32            `yaml:"trial_days"`
	SortOrder    int32            `yaml:"sort_order"`
	IsActive     *bool            `yaml:"is_active"`
	Prices       map[string]int64 `yaml:"prices"`       // minor units by currency code
	Entitlements map[string]Grant `yaml:"entitlements"` // by feature code
}

// MeterData is a meter (spec: Meter).
type MeterData struct {
	Code             string  `yaml:"code"`
	Name             string  `yaml:"name"`
	AggregationType  string  `yaml:"aggregation_type"`
	ResetInterval    string  `yaml:"reset_interval"`
	QuotaEnforcement string  `yaml:"quota_enforcement"`
	UnitLabel        *string `yaml:"unit_label"`
	IsActive         *bool   `yaml:"is_active"`
}

// Grant is what an entitlement gives: a quota, or the feature without a limit,
// which is written as true.
type Grant struct {
	Quota *int64 // nil is without a limit
}

// UnmarshalYAML reads true or a whole number.
func (g *Grant) UnmarshalYAML(node *yaml.Node) error {
	var boolean bool
	if node.ShortTag() == "!!bool" && node.Decode(&boolean) == nil && boolean {
		g.Quota = nil
		return nil
	}
	var quota int64
	if node.ShortTag() != "!!int" || node.Decode(&quota) != nil {
		return fmt.Errorf("line %d: an entitlement is true or a whole number, not %q", node.Line, node.Value)
	}
	g.Quota = &quota
	return nil
}

// Type tells which type of entitlement g makes.
func (g Grant) Type() EntitlementType {
	if g.Quota == nil {
		return Boolean
	}
	return Quota
}

// Demo returns the sandbox's catalog.
func Demo() (Catalog, error) { return Parse(demo) }

// Parse reads a catalog written as YAML and checks it: unknown and repeated keys
// are errors, and so is whatever breaks a rule of the catalog. All broken rules
// are told at once, each with the path of its field.
func Parse(text []byte) (Catalog, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var c Catalog
	if err := decoder.Decode(&c); err != nil {
		return Catalog{}, fmt.Errorf("catalog: %w", err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return Catalog{}, errors.New("catalog: there must be one document")
	}
	if err := refuseFractions(text); err != nil {
		return Catalog{}, err
	}
	if err := c.Check(); err != nil {
		return Catalog{}, err
	}
	return c, nil
}

// refuseFractions holds that every number is whole: the decoder would silently
// cut a price of 19.90 to 19.
func refuseFractions(text []byte) error {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	nodes := []*yaml.Node{&document}
	for len(nodes) > 0 {
		node := nodes[0]
		if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!float" {
			return fmt.Errorf("catalog: line %d: %s is not a whole number", node.Line, node.Value)
		}
		nodes = append(nodes[1:], node.Content...)
	}
	return nil
}
