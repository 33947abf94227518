package catalog

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/i18n"
)

// Longest texts in characters (spec: Field maxima).
const (
	maxName        = 255
	maxSlug        = 255
	maxDescription = 65535
)

// slugForm is what slugs and codes are made of (spec: Admin catalog endpoints).
var slugForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

// checker collects what is wrong with a catalog.
type checker struct {
	broken []error
	seen   map[string]bool
}

func (c *checker) fail(path, format string, args ...any) {
	c.broken = append(c.broken, fmt.Errorf("catalog: %s %s", path, fmt.Sprintf(format, args...)))
}

// Check tells every rule that the catalog breaks. Whether its currencies exist
// is seen by Apply.
func (c Catalog) Check() error {
	check := checker{seen: map[string]bool{}}
	for i, f := range c.Features {
		path := fmt.Sprintf("features[%d]", i)
		check.key(path+".code", "feature", f.Code)
		check.texts(path, f.Name, f.Description)
	}
	for i, p := range c.Products {
		path := fmt.Sprintf("products[%d]", i)
		check.key(path+".slug", "product", p.Slug)
		check.texts(path, p.Name, p.Description)
		for j, plan := range p.Plans {
			check.plan(fmt.Sprintf("%s.plans[%d]", path, j), plan)
		}
	}
	for i, m := range c.Meters {
		check.meter(fmt.Sprintf("meters[%d]", i), m)
	}
	return errors.Join(check.broken...)
}

// key checks a slug or code, which is unique among records of its kind.
func (c *checker) key(path, kind, key string) {
	switch {
	case !slugForm.MatchString(key) || len(key) > maxSlug:
		c.fail(path, "must be 1 to %d letters, digits, dashes and underscores, not %q", maxSlug, key)
	case c.seen[kind+" "+key]:
		c.fail(path, "%q is there twice", key)
	}
	c.seen[kind+" "+key] = true
}

func (c *checker) texts(path string, name, description Text) {
	if name[i18n.Default] == "" {
		c.fail(path+".name.en", "is required")
	}
	if description != nil && description[i18n.Default] == "" {
		c.fail(path+".description.en", "is required where there is a description")
	}
	c.text(path+".name", name, maxName)
	c.text(path+".description", description, maxDescription)
}

func (c *checker) text(path string, text Text, most int) {
	for _, locale := range slices.Sorted(maps.Keys(text)) {
		if !slices.Contains(i18n.Locales(), locale) {
			c.fail(path+"."+locale, "is not a supported locale")
		}
		if utf8.RuneCountInString(text[locale]) > most {
			c.fail(path+"."+locale, "must have at most %d characters", most)
		}
	}
}

func (c *checker) plan(path string, p PlanData) {
	c.key(path+".slug", "plan", p.Slug)
	c.texts(path, p.Name, p.Description)
	c.oneOf(path+".pricing_type", string(p.PricingType), string(Flat), string(Seat), string(Usage))
	c.oneOf(path+".billing_cycle", p.BillingCycle, BillingCycles()...)
	if p.TrialDays < 0 {
		c.fail(path+".trial_days", "must not be negative")
	}
	if p.SortOrder < 0 {
		c.fail(path+".sort_order", "must not be negative")
	}
	for _, currency := range slices.Sorted(maps.Keys(p.Prices)) {
		if !currencyForm.MatchString(currency) {
			c.fail(path+".prices", "has the key %q, which is not a currency code", currency)
		}
		if p.Prices[currency] < 0 {
			c.fail(path+".prices."+currency, "must not be negative")
		}
	}
	for _, code := range slices.Sorted(maps.Keys(p.Entitlements)) {
		if quota := p.Entitlements[code].Quota; quota != nil && *quota < 1 {
			c.fail(path+".entitlements."+code, "must be true or positive")
		}
	}
}

func (c *checker) meter(path string, m MeterData) {
	c.key(path+".code", "meter", m.Code)
	if m.Name == "" || utf8.RuneCountInString(m.Name) > maxName {
		c.fail(path+".name", "must have 1 to %d characters", maxName)
	}
	c.oneOf(path+".aggregation_type", m.AggregationType, "sum", "max", "count", "last_value")
	c.oneOf(path+".reset_interval", m.ResetInterval, "monthly", "weekly", "daily", "none")
	c.oneOf(path+".quota_enforcement", m.QuotaEnforcement, "none", "soft", "hard")
}

func (c *checker) oneOf(path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		c.fail(path, "must be one of %q, not %q", allowed, value)
	}
}
