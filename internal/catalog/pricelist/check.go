package pricelist

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Maximum lengths in characters, as in the API (rules: http#validation).
const (
	maxName        = 255
	maxSlug        = 255
	maxDescription = 65535

	maxCurrencyName   = 100
	maxCurrencySymbol = 10
	maxPSPPriceID     = 255
)

// maxTrialDays is the longest trial that the API and the payment provider accept.
const maxTrialDays = 730

// slugForm is the format of slugs and codes.
var slugForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

var currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)

// pspPricePrefix is the prefix of the payment provider's price IDs.
const pspPricePrefix = "price_"

// checker collects the problems of a catalog.
type checker struct {
	problems
	seen map[string]bool // kind and key of the records so far
}

// Check returns all violations of the catalog rules, joined, each as a *ProblemError. It does not
// access the database. Apply checks that the records that c refers to exist.
func (c Catalog) Check() error {
	check := checker{problems: problems{lines: c.lines}, seen: map[string]bool{}}
	for i, currency := range c.Currencies {
		check.currency(fmt.Sprintf("currencies[%d]", i), currency)
	}
	for i, f := range c.Features {
		path := fmt.Sprintf("features[%d]", i)
		check.key(path+".code", "feature", f.Code)
		check.texts(path, f.Name, f.Description)
		check.checkNotNegative(path+".sort_order", f.SortOrder)
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
	for i, p := range c.Packs {
		check.pack(fmt.Sprintf("packs[%d]", i), p)
	}
	return check.err()
}

// key checks a slug or code, which must be unique among records of its kind.
func (c *checker) key(path, kind, key string) {
	if !slugForm.MatchString(key) || len(key) > maxSlug {
		c.fail(path, "must be 1 to %d letters, digits, dashes and underscores, not %q", maxSlug, key)
	}
	c.checkUnique(path, kind, key)
}

func (c *checker) checkUnique(path, kind, key string) {
	if c.seen[kind+" "+key] {
		c.fail(path, "%q appears twice", key)
	}
	c.seen[kind+" "+key] = true
}

func (c *checker) currency(path string, currency CurrencyData) {
	if !currencyForm.MatchString(currency.Code) {
		c.fail(path+".code", "must be three letters, not %q", currency.Code)
	}
	c.checkUnique(path+".code", "currency", currency.Code)
	c.line(path+".name", currency.Name, maxCurrencyName)
	c.line(path+".symbol", currency.Symbol, maxCurrencySymbol)
	if !slices.Contains([]int32{0, 2, 3}, currency.MinorUnits) {
		c.fail(path+".minor_units", "must be 0, 2 or 3")
	}
}

// line checks a required single-line text.
func (c *checker) line(path, text string, most int) {
	if text == "" {
		c.fail(path, "is required")
	}
	c.text(path, text, most, false)
}

func (c *checker) text(path, text string, most int, multiline bool) {
	if utf8.RuneCountInString(text) > most {
		c.fail(path, "must have at most %d characters", most)
	}
	if hasControl(text, multiline) || !multiline && !shape.IsName(text) {
		c.fail(path, "contains invalid characters")
	}
}

// hasControl reports whether a text has characters that the API would reject.
func hasControl(text string, multiline bool) bool {
	for _, c := range text {
		if unicode.IsControl(c) && (!multiline || !strings.ContainsRune("\n\r\t", c)) {
			return true
		}
	}
	return !utf8.ValidString(text)
}

func (c *checker) texts(path string, name, description Text) {
	if name[i18n.Default] == "" {
		c.fail(path+".name.en", "is required")
	}
	if description != nil && description[i18n.Default] == "" {
		c.fail(path+".description.en", "is required with a description")
	}
	c.locales(path+".name", name, maxName, false)
	c.locales(path+".description", description, maxDescription, true)
}

func (c *checker) locales(path string, text Text, most int, multiline bool) {
	for _, locale := range slices.Sorted(maps.Keys(text)) {
		if !slices.Contains(i18n.Locales(), locale) {
			c.fail(path+"."+locale, "is not a supported locale")
		}
		c.text(path+"."+locale, text[locale], most, multiline)
	}
}

func (c *checker) plan(path string, p PlanData) {
	c.key(path+".slug", "plan", p.Slug)
	c.texts(path, p.Name, p.Description)
	c.checkOneOf(path+".pricing_type", string(p.PricingType), string(catalog.PricingFlat), string(catalog.PricingSeat), string(catalog.PricingUsage))
	c.checkOneOf(path+".billing_cycle", p.BillingCycle, catalog.BillingCycles()...)
	if p.IntervalUnit != "" {
		c.checkOneOf(path+".interval_unit", p.IntervalUnit, "day", "week", "month", "year")
	}
	c.checkNotNegative(path+".interval_count", p.IntervalCount)
	c.checkNotNegative(path+".trial_days", p.TrialDays)
	if p.TrialDays > maxTrialDays {
		c.fail(path+".trial_days", "must be at most %d", maxTrialDays)
	}
	c.checkNotNegative(path+".sort_order", p.SortOrder)
	linked := map[string]bool{}
	for _, currency := range slices.Sorted(maps.Keys(p.Prices)) {
		price := p.Prices[currency]
		at := c.price(path, currency, price.Link, linked)
		if price.PriceCents < 0 {
			c.fail(at, "must not be negative")
		}
	}
	for _, code := range slices.Sorted(maps.Keys(p.Entitlements)) {
		if quota := p.Entitlements[code].Quota; quota != nil && *quota < 1 {
			c.fail(path+".entitlements."+code, "must be true or positive")
		}
	}
}

// price checks the parts that prices of plans and meters share, and returns the path of the price.
// linked is the set of provider prices that the record uses so far.
func (c *checker) price(path, currency string, link Link, linked map[string]bool) string {
	at := path + ".prices." + currency
	if !currencyForm.MatchString(currency) {
		c.fail(at, "is not a currency code")
	}
	if link.PSPPriceID == nil {
		return at
	}
	id := *link.PSPPriceID
	switch {
	case !strings.HasPrefix(id, pspPricePrefix):
		c.fail(at+".psp_price_id", "must begin with %s", pspPricePrefix)
	case linked[id]:
		c.fail(at+".psp_price_id", "%q appears twice", id)
	}
	linked[id] = true
	c.text(at+".psp_price_id", id, maxPSPPriceID, false)
	return at
}

func (c *checker) checkNotNegative(path string, number int32) {
	if number < 0 {
		c.fail(path, "must not be negative")
	}
}

func (c *checker) meter(path string, m MeterData) {
	c.key(path+".code", "meter", m.Code)
	c.line(path+".name", m.Name, maxName)
	c.checkOneOf(path+".aggregation_type", m.AggregationType, "sum", "max", "count", "last_value")
	c.checkOneOf(path+".reset_interval", m.ResetInterval, "monthly", "weekly", "daily", "none")
	c.checkOneOf(path+".quota_enforcement", m.QuotaEnforcement, "none", "soft", "hard")
	if m.UnitLabel != nil {
		c.line(path+".unit_label", *m.UnitLabel, maxName)
	}
	linked := map[string]bool{}
	for _, currency := range slices.Sorted(maps.Keys(m.Prices)) {
		c.price(path, currency, m.Prices[currency].Link, linked)
	}
}

// The limits of a pack, as in the API.
const (
	maxExpiryDays = 36_500
	maxPriceCents = 999_999_999_999
)

func (c *checker) pack(path string, p PackData) {
	c.key(path+".slug", "pack", p.Slug)
	c.texts(path, p.Name, p.Description)
	if p.FeatureCode == "" {
		c.fail(path+".feature_code", "is required")
	}
	if p.Amount <= 0 {
		c.fail(path+".amount", "must be above 0")
	}
	if days := p.ExpiresAfterDays; days != nil && (*days < 1 || *days > maxExpiryDays) {
		c.fail(path+".expires_after_days", "must be from 1 to %d", maxExpiryDays)
	}
	if len(p.Prices) == 0 {
		c.fail(path+".prices", "must have a price")
	}
	for _, currency := range slices.Sorted(maps.Keys(p.Prices)) {
		at := c.price(path, currency, Link{}, nil)
		if cents := p.Prices[currency]; cents < 1 || cents > maxPriceCents {
			c.fail(at, "must be from 1 to %d", maxPriceCents)
		}
	}
}

func (c *checker) checkOneOf(path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		c.fail(path, "must be one of %s, not %q", strings.Join(allowed, ", "), value)
	}
}
