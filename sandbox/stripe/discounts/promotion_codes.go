package discounts

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Codes is the collection of promotion codes.
var Codes = kernel.Kind[PromotionCode]{Name: "promotion_code", Prefix: "promo", Label: "promotion code", Path: "/v1/promotion_codes"}

// PromotionCode is a code with which customers redeem a coupon.
type PromotionCode struct {
	kernel.Header
	Active          bool              `json:"active"`
	Code            string            `json:"code"`
	Customer        *string           `json:"customer"`
	CustomerAccount form.Null         `json:"customer_account"`
	ExpiresAt       *int64            `json:"expires_at"`
	MaxRedemptions  *int64            `json:"max_redemptions"`
	Metadata        map[string]string `json:"metadata"`
	Promotion       source            `json:"promotion"`
	Restrictions    restrictions      `json:"restrictions"`
	TimesRedeemed   int64             `json:"times_redeemed"`
}

// source refers to the coupon of a promotion code or a discount.
type source struct {
	Coupon string `json:"coupon"`
	Type   string `json:"type"`
}

type restrictions struct {
	FirstTimeTransaction  bool    `json:"first_time_transaction"`
	MinimumAmount         *int64  `json:"minimum_amount"`
	MinimumAmountCurrency *string `json:"minimum_amount_currency"`
}

// CreateCode handles POST /v1/promotion_codes.
func CreateCode(ctx context.Context, c *kernel.Call) (any, error) {
	p := c.Params
	pc := PromotionCode{Header: Codes.Start(c.Now), Active: true, Metadata: map[string]string{}, Promotion: source{Type: "coupon"}}
	pc.Code = form.RandomText(8, form.Alphanumeric[:36])
	p.Require("promotion")
	if of := p.Hash("promotion"); of != nil {
		of.Require("type", "coupon")
		of.Choice("type", &pc.Promotion.Type, "coupon")
		of.Text("coupon", &pc.Promotion.Coupon)
	}
	p.Text("code", &pc.Code)
	if strings.Trim(pc.Code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		p.Fail("code", "", "Invalid code: valid characters are lower case letters (a-z), upper case letters (A-Z), digits (0-9), and dashes (-).")
	}
	p.Boolean("active", &pc.Active)
	p.ReadClearable("customer", &pc.Customer)
	readOptional(p, "expires_at", c.Now+1, 1<<40, &pc.ExpiresAt)
	readOptional(p, "max_redemptions", 1, 1<<40, &pc.MaxRedemptions)
	p.Metadata(&pc.Metadata)
	pc.readRestrictions(p)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	co, err := Coupons.Get(ctx, c.Q, pc.Promotion.Coupon, "promotion[coupon]")
	if err != nil {
		return nil, err
	}
	switch {
	case pc.MaxRedemptions != nil && co.MaxRedemptions != nil && *pc.MaxRedemptions > *co.MaxRedemptions:
		return nil, form.Refuse("max_redemptions", "", "The promotion code's max_redemptions cannot be greater than the coupon's.")
	case pc.ExpiresAt != nil && co.RedeemBy != nil && *pc.ExpiresAt > *co.RedeemBy:
		return nil, form.Refuse("expires_at", "", "The promotion code's expires_at cannot be after the coupon's redeem_by.")
	}
	if pc.Active {
		if err := pc.requireFree(ctx, c); err != nil {
			return nil, err
		}
	}
	return pc, c.Create(ctx, "promotion_code.created", pc)
}

func (pc *PromotionCode) readRestrictions(p *form.Params) {
	given := p.Hash("restrictions")
	if given == nil {
		return
	}
	given.Boolean("first_time_transaction", &pc.Restrictions.FirstTimeTransaction)
	readOptional(given, "minimum_amount", 1, 1<<40, &pc.Restrictions.MinimumAmount)
	var code string
	if form.ReadCurrency(given, "minimum_amount_currency", &code); code != "" {
		pc.Restrictions.MinimumAmountCurrency = &code
	}
	if (pc.Restrictions.MinimumAmount == nil) != (code == "") {
		given.Fail("minimum_amount_currency", "", "You must pass both minimum_amount and minimum_amount_currency.")
	}
}

// requireFree refuses a code that another active promotion code of the same customer has, regardless
// of case.
func (pc *PromotionCode) requireFree(ctx context.Context, c *kernel.Call) error {
	same, err := Codes.FindWhere(ctx, c.Q, `upper(doc ->> '$.code') = ? AND doc ->> '$.active'`, strings.ToUpper(pc.Code))
	if err != nil {
		return err
	}
	for _, other := range same {
		active, err := other.isActive(ctx, c.Step)
		if err != nil {
			return err
		}
		sameCustomer := pc.Customer == nil || other.Customer == nil || *pc.Customer == *other.Customer
		if active && other.ID != pc.ID && sameCustomer {
			return form.Refuse("code", "", "An active promotion code with `code: %s` already exists.", pc.Code)
		}
	}
	return nil
}

// isActive reports whether the code can be redeemed: it is active, has not expired and not reached
// its maximum, and its coupon is valid.
func (pc *PromotionCode) isActive(ctx context.Context, st *kernel.Step) (bool, error) {
	co, err := Coupons.Get(ctx, st.Q, pc.Promotion.Coupon, "coupon")
	if err != nil {
		return false, err
	}
	return pc.Active && co.isValid(st.Now) && (pc.ExpiresAt == nil || st.Now < *pc.ExpiresAt) &&
		(pc.MaxRedemptions == nil || pc.TimesRedeemed < *pc.MaxRedemptions), nil
}

// GetCode handles GET /v1/promotion_codes/{id}.
func GetCode(ctx context.Context, c *kernel.Call) (any, error) {
	pc, err := Codes.Get(ctx, c.Q, c.ID, "id")
	if err == nil {
		err = c.Params.CheckUnread()
	}
	if err == nil {
		pc.Active, err = pc.isActive(ctx, c.Step)
	}
	return pc, err
}

// ListCodes handles GET /v1/promotion_codes. The filter active selects by the flag of a code,
// regardless of its expiry and its maximum.
func ListCodes(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddBool(c.Params, "active", "$.active")
	f.AddEqual(c.Params, "coupon", "$.promotion.coupon")
	f.AddEqual(c.Params, "customer", "$.customer")
	if code, ok := c.Params.ReadFilled("code"); ok {
		f.AddCondition(`upper(doc ->> '$.code') = ?`, strings.ToUpper(code))
	}
	return Codes.Page(ctx, c, f)
}

// UpdateCode handles POST /v1/promotion_codes/{id}.
func UpdateCode(ctx context.Context, c *kernel.Call) (any, error) {
	pc, err := Codes.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *pc
	c.Params.Boolean("active", &pc.Active)
	c.Params.Metadata(&pc.Metadata)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if pc.Active && !before.Active {
		if err := pc.requireFree(ctx, c); err != nil {
			return nil, err
		}
	}
	return pc, c.Change(ctx, "promotion_code.updated", before, pc)
}
