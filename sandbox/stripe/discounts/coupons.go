package discounts

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Coupons is the collection of coupons.
var Coupons = kernel.Kind[Coupon]{Name: "coupon", Prefix: "coup", Label: "coupon", Path: "/v1/coupons"}

// The durations of a coupon.
const (
	Once      = "once"
	Repeating = "repeating"
	Forever   = "forever"
)

// maxName is the maximum length of a coupon's name, in characters.
const maxName = 40

// Coupon is a percentage or an amount off.
type Coupon struct {
	kernel.Header
	AmountOff *int64 `json:"amount_off"`
	// AppliesTo and CurrencyOptions are always included. Stripe includes them when they are expanded.
	AppliesTo        *appliesTo                `json:"applies_to,omitempty"`
	Currency         *string                   `json:"currency"`
	CurrencyOptions  map[string]currencyOption `json:"currency_options,omitempty"`
	Duration         string                    `json:"duration"`
	DurationInMonths *int64                    `json:"duration_in_months"`
	MaxRedemptions   *int64                    `json:"max_redemptions"`
	Metadata         map[string]string         `json:"metadata"`
	Name             *string                   `json:"name"`
	PercentOff       *float64                  `json:"percent_off"`
	RedeemBy         *int64                    `json:"redeem_by"`
	TimesRedeemed    int64                     `json:"times_redeemed"`
	Valid            bool                      `json:"valid"`
}

type appliesTo struct {
	Products []string `json:"products"`
}

type currencyOption struct {
	AmountOff int64 `json:"amount_off"`
}

// CreateCoupon handles POST /v1/coupons.
func CreateCoupon(ctx context.Context, c *kernel.Call) (any, error) {
	p := c.Params
	co := Coupon{Header: Coupons.Start(c.Now), Duration: Once, Metadata: map[string]string{}, Valid: true}
	p.Text("id", &co.ID)
	co.readAmounts(p)
	p.Choice("duration", &co.Duration, Once, Repeating, Forever)
	readOptional(p, "duration_in_months", 1, 1200, &co.DurationInMonths)
	switch {
	case co.Duration == Repeating && co.DurationInMonths == nil:
		p.Fail("duration_in_months", "parameter_missing", "You must pass duration_in_months when passing duration=repeating.")
	case co.Duration != Repeating && co.DurationInMonths != nil:
		p.Fail("duration_in_months", "", "You can only pass duration_in_months when duration is repeating.")
	}
	readOptional(p, "max_redemptions", 1, 1<<40, &co.MaxRedemptions)
	readOptional(p, "redeem_by", c.Now+1, time.Unix(c.Now, 0).UTC().AddDate(5, 0, 0).Unix(), &co.RedeemBy)
	if on := p.Hash("applies_to"); on != nil {
		co.AppliesTo = &appliesTo{Products: on.Texts("products")}
	}
	co.readNames(p)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	_, err := Coupons.Find(ctx, c.Q, co.ID)
	if err == nil {
		return nil, form.Refuse("id", "resource_already_exists", "Coupon already exists.")
	}
	if !errors.Is(err, kernel.ErrNotFound) {
		return nil, err
	}
	return co, c.Create(ctx, "coupon.created", co)
}

// readNames reads the parameters that can be updated.
func (co *Coupon) readNames(p *form.Params) {
	if p.Has("name") {
		var name string
		p.ReadShort("name", maxName, &name)
		co.Name = &name
	}
	p.Metadata(&co.Metadata)
}

// readAmounts reads the percentage or the amounts.
func (co *Coupon) readAmounts(p *form.Params) {
	if text, ok := p.ReadFilled("percent_off"); ok {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil || percent <= 0 || percent > 100 {
			p.Fail("percent_off", "", "Invalid percent_off: must be larger than 0 and at most 100.")
		}
		co.PercentOff = &percent
	}
	readOptional(p, "amount_off", 1, 1<<40, &co.AmountOff)
	var code string
	form.ReadCurrency(p, "currency", &code)
	if options := p.Hash("currency_options"); options != nil {
		if co.AmountOff == nil {
			p.Fail("currency_options", "", "You can only pass currency_options with amount_off.")
		}
		co.CurrencyOptions = map[string]currencyOption{}
		for _, key := range options.Keys() {
			option := options.Hash(key)
			if option == nil {
				continue
			}
			var off currencyOption
			option.Require("amount_off")
			option.Integer("amount_off", 1, 1<<40, &off.AmountOff)
			co.CurrencyOptions[key] = off
		}
	}
	switch {
	case (co.PercentOff == nil) == (co.AmountOff == nil):
		p.Fail("percent_off", "", "You must pass one of percent_off or amount_off.")
	case co.AmountOff != nil && code == "":
		p.Fail("currency", "parameter_missing", "You must pass currency when passing amount_off.")
	case co.AmountOff != nil:
		co.Currency = &code
	case code != "":
		p.Fail("currency", "", "You can only pass currency with amount_off.")
	}
}

// readOptional reads a whole number that can be absent.
func readOptional(p *form.Params, key string, low, high int64, into **int64) {
	if p.Has(key) {
		var n int64
		p.Integer(key, low, high, &n)
		*into = &n
	}
}

// GetCoupon handles GET /v1/coupons/{id}.
func GetCoupon(ctx context.Context, c *kernel.Call) (any, error) {
	co, err := Coupons.Get(ctx, c.Q, c.ID, "id")
	if err == nil {
		co.Valid = co.isValid(c.Now)
		err = c.Params.CheckUnread()
	}
	return co, err
}

// ListCoupons handles GET /v1/coupons.
func ListCoupons(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	return Coupons.Page(ctx, c, f)
}

// UpdateCoupon handles POST /v1/coupons/{id}. Amounts and durations never change.
func UpdateCoupon(ctx context.Context, c *kernel.Call) (any, error) {
	co, err := Coupons.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *co
	co.readNames(c.Params)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return co, c.Change(ctx, "coupon.updated", before, co)
}

// deletedCoupon is a coupon that can no longer be redeemed. Its discounts remain.
type deletedCoupon struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// DeleteCoupon handles DELETE /v1/coupons/{id}. The discounts of the coupon remain, so the sandbox
// keeps the coupon with valid=false.
func DeleteCoupon(ctx context.Context, c *kernel.Call) (any, error) {
	co, err := Coupons.Get(ctx, c.Q, c.ID, "id")
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err != nil {
		return nil, err
	}
	co.Valid = false
	if err := kernel.Put(ctx, c.Q, co); err != nil {
		return nil, err
	}
	return deletedCoupon{ID: co.ID, Object: co.Object, Deleted: true}, c.Emit(ctx, "coupon.deleted", co, nil)
}

// isValid reports whether the coupon can be redeemed.
func (co *Coupon) isValid(now int64) bool {
	return co.Valid && (co.RedeemBy == nil || now < *co.RedeemBy) && (co.MaxRedemptions == nil || co.TimesRedeemed < *co.MaxRedemptions)
}

// amountIn returns the amount off in a currency.
func (co *Coupon) amountIn(currency string) (int64, bool) {
	if co.Currency != nil && *co.Currency == currency {
		return *co.AmountOff, true
	}
	option, ok := co.CurrencyOptions[currency]
	return option.AmountOff, ok
}

// Share is an amount that a coupon can reduce, with its product.
type Share struct {
	Product string
	Amount  int64
}

// AmountsOff returns the amount that the coupon takes off each share. A percentage is rounded half up, once
// per share, to a payable amount. An amount is spread over the shares in proportion; it is at most
// their sum.
func (co *Coupon) AmountsOff(shares []Share, currency string) []int64 {
	off := make([]int64, len(shares))
	var eligible int64
	for i, s := range shares {
		if s.Amount <= 0 || co.AppliesTo != nil && !slices.Contains(co.AppliesTo.Products, s.Product) {
			continue
		}
		if co.PercentOff != nil {
			off[i] = percentOf(s.Amount, *co.PercentOff, billing.Step(currency))
			continue
		}
		off[i] = s.Amount
		eligible += s.Amount
	}
	if co.PercentOff != nil || eligible == 0 {
		return off
	}
	most, _ := co.amountIn(currency)
	most = min(most, eligible)
	var before, given int64
	for i, amount := range off {
		before += amount
		upTo := new(big.Int).Mul(big.NewInt(most), big.NewInt(before))
		share := upTo.Quo(upTo, big.NewInt(eligible)).Int64()
		if before < eligible {
			share -= share % billing.Step(currency)
		}
		off[i], given = share-given, share
	}
	return off
}

// percentOf returns a percentage of an amount, rounded half up to a multiple of step.
func percentOf(amount int64, percent float64, step int64) int64 {
	share, _ := new(big.Rat).SetString(strconv.FormatFloat(percent, 'f', -1, 64))
	share.Mul(share, big.NewRat(amount, 100*step)).Add(share, big.NewRat(1, 2))
	return min(new(big.Int).Quo(share.Num(), share.Denom()).Int64()*step, amount)
}
