package catalog

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/meters"
)

// Prices is the collection of prices.
var Prices = kernel.Kind[Price]{Name: "price", Prefix: "price", Label: "price", Path: "/v1/prices"}

// Price is a one-time or recurring price of one unit of a product.
type Price struct {
	kernel.Header
	Active            bool              `json:"active"`
	BillingScheme     string            `json:"billing_scheme"`
	Currency          string            `json:"currency"`
	CustomUnitAmount  form.Null         `json:"custom_unit_amount"`
	LookupKey         *string           `json:"lookup_key"`
	Metadata          map[string]string `json:"metadata"`
	Nickname          *string           `json:"nickname"`
	Product           string            `json:"product"`
	Recurring         *recurrence       `json:"recurring"`
	TaxBehavior       string            `json:"tax_behavior"`
	TiersMode         form.Null         `json:"tiers_mode"`
	TransformQuantity form.Null         `json:"transform_quantity"`
	Type              string            `json:"type"`
	// UnitAmount is null if UnitAmountDecimal is not a whole number.
	UnitAmount        *int64 `json:"unit_amount"`
	UnitAmountDecimal string `json:"unit_amount_decimal"`
}

// recurrence describes how often a price is charged.
type recurrence struct {
	Interval      string  `json:"interval"`
	IntervalCount int64   `json:"interval_count"`
	Meter         *string `json:"meter"` // only for metered prices
	UsageType     string  `json:"usage_type"`
}

// The usage types of a recurring price: a fixed quantity, or the usage counted by a meter.
const (
	usageLicensed = "licensed"
	usageMetered  = "metered"
)

// SameInterval reports whether two prices have the same interval.
func (r recurrence) SameInterval(other recurrence) bool {
	return r.Interval == other.Interval && r.IntervalCount == other.IntervalCount
}

// read reads the parameters that creating and updating have in common. It reports whether the
// lookup key can be transferred from another price.
func (pr *Price) read(p *form.Params) (transferLookupKey bool) {
	p.Boolean("active", &pr.Active)
	p.ReadClearable("lookup_key", &pr.LookupKey)
	if key := pr.LookupKey; key != nil && len(*key) > 200 {
		p.Fail("lookup_key", "", "Invalid string: lookup_key must be at most 200 characters")
	}
	p.Metadata(&pr.Metadata)
	p.ReadClearable("nickname", &pr.Nickname)
	p.Choice("tax_behavior", &pr.TaxBehavior, "exclusive", "inclusive", "unspecified")
	p.Boolean("transfer_lookup_key", &transferLookupKey)
	return transferLookupKey
}

func readRecurring(p *form.Params) *recurrence {
	given := p.Hash("recurring")
	if given == nil {
		return nil
	}
	r := recurrence{IntervalCount: 1, UsageType: usageLicensed}
	given.Require("interval")
	given.Choice("interval", &r.Interval, "day", "week", "month", "year")
	longest := map[string]int64{"day": 1095, "week": 156, "month": 36, "year": 3}[r.Interval]
	given.Integer("interval_count", 1, max(longest, 1), &r.IntervalCount)
	given.Choice("usage_type", &r.UsageType, usageLicensed, usageMetered)
	given.ReadClearable("meter", &r.Meter)
	switch {
	case r.UsageType == usageMetered && r.Meter == nil:
		given.Fail("meter", "parameter_missing", "Metered prices must be backed by a meter: give recurring[meter].")
	case r.UsageType == usageLicensed && r.Meter != nil:
		given.Fail("meter", "", "A meter can be given for metered prices only.")
	}
	return &r
}

// readUnitAmount reads unit_amount or unit_amount_decimal. One of them is required.
func (pr *Price) readUnitAmount(p *form.Params) {
	if p.Has("unit_amount") && p.Has("unit_amount_decimal") {
		p.Fail("unit_amount", "", "Received both unit_amount and unit_amount_decimal; only one of them can be used.")
		return
	}
	if decimal, ok := form.ReadDecimal(p, "unit_amount_decimal"); ok {
		pr.UnitAmountDecimal = decimal
		if !strings.Contains(decimal, ".") {
			if whole, err := strconv.ParseInt(decimal, 10, 64); err == nil {
				pr.UnitAmount = &whole
			}
		}
		return
	}
	p.Require("unit_amount")
	var whole int64
	p.Integer("unit_amount", 0, billing.MaxAmount(pr.Currency), &whole)
	pr.UnitAmount, pr.UnitAmountDecimal = &whole, strconv.FormatInt(whole, 10)
}

// checkUnitAmount refuses an amount that cannot be paid in the currency. A metered price can be
// more precise, because the total is rounded.
func (pr *Price) checkUnitAmount(p *form.Params) {
	step := billing.Step(pr.Currency)
	if amount := pr.UnitAmount; amount != nil && !pr.IsMetered() && *amount%step != 0 {
		p.Fail("unit_amount", "invalid_charge_amount_no_decimal_compatible",
			"Invalid amount. Amounts in %s must be evenly divisible by %d.", strings.ToUpper(pr.Currency), step)
	}
}

// CreatePrice handles POST /v1/prices.
func CreatePrice(ctx context.Context, c *kernel.Call) (any, error) {
	p := c.Params
	pr := Price{
		Header: Prices.Start(c.Now), Active: true, BillingScheme: "per_unit",
		TaxBehavior: "unspecified", Type: "one_time",
	}
	p.Require("currency")
	form.ReadCurrency(p, "currency", &pr.Currency)
	p.Choice("billing_scheme", &pr.BillingScheme, "per_unit")
	pr.readUnitAmount(p)
	if pr.Recurring = readRecurring(p); pr.Recurring != nil {
		pr.Type = "recurring"
	}
	pr.checkUnitAmount(p)
	transfer := pr.read(p)
	made := p.Hash("product_data")
	var parent Product
	switch {
	case made != nil && p.Has("product"):
		p.Fail("product_data", "", "You may only specify one of these parameters: product, product_data.")
	case made != nil:
		parent = newProduct(made, c.Now)
		pr.Product = parent.ID
	default:
		p.Require("product")
		p.Text("product", &pr.Product)
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	if made != nil {
		if err := addProduct(ctx, c.Step, parent); err != nil {
			return nil, err
		}
	} else if _, err := Products.Get(ctx, c.Q, pr.Product, "product"); err != nil {
		return nil, err
	}
	if pr.IsMetered() {
		m, err := meters.All.Get(ctx, c.Q, *pr.Recurring.Meter, "recurring[meter]")
		if err != nil {
			return nil, err
		}
		if m.Status != meters.StatusActive {
			return nil, form.Refuse("recurring[meter]", "archived_meter", "The meter %s is not active.", m.ID)
		}
	}
	if err := claimLookupKey(ctx, c.Step, &pr, transfer); err != nil {
		return nil, err
	}
	return pr, c.Create(ctx, "price.created", pr)
}

// GetPrice handles GET /v1/prices/{id}.
func GetPrice(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Prices)
}

// UpdatePrice handles POST /v1/prices/{id}.
func UpdatePrice(ctx context.Context, c *kernel.Call) (any, error) {
	pr, err := Prices.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *pr
	transfer := pr.read(c.Params)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if before.TaxBehavior != "unspecified" && pr.TaxBehavior != before.TaxBehavior {
		return nil, form.Refuse("tax_behavior", "", "The tax behavior of a price cannot be changed once it is inclusive or exclusive.")
	}
	if err := claimLookupKey(ctx, c.Step, pr, transfer); err != nil {
		return nil, err
	}
	return pr, c.Change(ctx, "price.updated", before, pr)
}

// claimLookupKey ensures that no other price has the lookup key. If another price has the key,
// claimLookupKey removes the key from that price if transfer is true, and returns an error if it is
// false.
func claimLookupKey(ctx context.Context, st *kernel.Step, pr *Price, transfer bool) error {
	if pr.LookupKey == nil {
		return nil
	}
	holders, err := Prices.FindWhere(ctx, st.Q, `doc ->> '$.lookup_key' = ? AND id <> ?`, *pr.LookupKey, pr.ID)
	if err != nil {
		return err
	}
	for _, holder := range holders {
		if !transfer {
			return form.Refuse("lookup_key", "resource_already_exists", "A price (`%s`) already uses that lookup key.", holder.ID)
		}
		before := *holder
		holder.LookupKey = nil
		if err := st.Change(ctx, "price.updated", before, holder); err != nil {
			return err
		}
	}
	return nil
}

// ListPrices handles GET /v1/prices.
func ListPrices(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddBool(c.Params, "active", "$.active")
	f.AddEqual(c.Params, "currency", "$.currency")
	f.AddEqual(c.Params, "product", "$.product")
	f.AddOneOf(c.Params, "type", "$.type", "one_time", "recurring")
	f.AddIn("$.lookup_key", c.Params.Texts("lookup_keys"))
	if r := c.Params.Hash("recurring"); r != nil {
		f.AddOneOf(r, "interval", "$.recurring.interval", "day", "month", "week", "year")
		f.AddOneOf(r, "usage_type", "$.recurring.usage_type", usageLicensed, usageMetered)
		f.AddEqual(r, "meter", "$.recurring.meter")
	}
	return Prices.Page(ctx, c, f)
}

// IsMetered reports whether a price charges the usage counted by a meter rather than a fixed
// quantity.
func (pr Price) IsMetered() bool {
	return pr.Recurring != nil && pr.Recurring.UsageType == usageMetered
}

// DescribePrice formats a price for display, as in 10.00 EUR / 3 months, or 0.0125 EUR / unit for a
// metered price.
func DescribePrice(p Price) string {
	amount := form.FormatDecimal(p.UnitAmountDecimal, p.Currency)
	if p.Recurring == nil {
		return amount
	}
	if p.IsMetered() {
		return amount + " / unit"
	}
	if p.Recurring.IntervalCount == 1 {
		return amount + " / " + p.Recurring.Interval
	}
	return fmt.Sprintf("%s / %d %ss", amount, p.Recurring.IntervalCount, p.Recurring.Interval)
}

// FindSellable returns a price that a subscription can use, and its product. It refuses inactive
// and one-time prices.
func FindSellable(ctx context.Context, st *kernel.Step, id, param string) (*Price, *Product, error) {
	pr, pd, err := FindActive(ctx, st, id, param)
	if err == nil && pr.Recurring == nil {
		err = form.Refuse(param, "", "The sandbox sells only recurring prices in subscriptions; `%s` is a one-time price.", pr.ID)
	}
	return pr, pd, err
}

// FindActive returns a recurring or one-time price and its product. It refuses an inactive price or
// product.
func FindActive(ctx context.Context, st *kernel.Step, id, param string) (*Price, *Product, error) {
	pr, err := Prices.Get(ctx, st.Q, id, param)
	if err != nil {
		return nil, nil, err
	}
	pd, err := Products.Get(ctx, st.Q, pr.Product, param)
	switch {
	case err != nil:
		return nil, nil, err
	case !pr.Active:
		return nil, nil, form.Refuse(param, "", "The price specified is inactive. This field only accepts active prices.")
	case !pd.Active:
		return nil, nil, form.Refuse(param, "", "The price's product `%s` is marked as inactive, and thus the price cannot be used.", pd.ID)
	}
	return pr, pd, nil
}

// WrongCurrency returns the error for a price in an unexpected currency.
func WrongCurrency(param, got, want string) *form.Error {
	return form.Refuse(param, "", "The price specified only supports `%s`. This doesn't match the expected currency: `%s`.", got, want)
}
