// Package promo creates coupons and promotion codes at the provider.
package promo

import (
	"context"
	"errors"
	"strings"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// maxName is the maximum length of a coupon's name at the provider, in characters.
const maxName = 40

// Codes creates promotion codes.
type Codes struct{ Client *psp.Client }

// Params describes a promotion code with its coupon. The provider enforces no limits: the caller
// counts redemptions.
type Params struct {
	CouponID   string
	Code       string
	Name       string
	PercentOff *int64 // in hundredths of a percent; nil for amounts
	Amounts    []Amount
	Duration   string // once, repeating or forever
	Months     *int32 // only for repeating
}

// Amount is the amount that a coupon takes off in one currency.
type Amount struct {
	Currency    string // ISO 4217
	AmountCents int64  // minor units; see charge.Units
}

// Create creates a coupon and its promotion code, unless they exist, and returns the ID of the
// code. The provider allows only one active promotion code with the same text. If another code is
// active, isStale reports whether the coupon of that code belongs to a deleted discount, so that
// Create can deactivate the code.
func (c Codes) Create(ctx context.Context, p Params, isStale func(ctx context.Context, coupon string) (bool, error)) (string, error) {
	if err := c.createCoupon(ctx, p); err != nil {
		return "", err
	}
	found, err := c.list(ctx, &stripe.PromotionCodeListParams{Code: stripe.String(p.Code)})
	if err != nil {
		return "", err
	}
	for _, code := range found {
		if code.Promotion == nil || code.Promotion.Coupon == nil {
			continue
		}
		coupon := code.Promotion.Coupon.ID
		if coupon == p.CouponID {
			return code.ID, nil
		}
		if !code.Active {
			continue
		}
		stale, err := isStale(ctx, coupon)
		if err == nil && stale {
			err = c.Deactivate(ctx, code.ID)
		}
		if err != nil {
			return "", err
		}
	}
	return c.createCode(ctx, p)
}

func (c Codes) createCode(ctx context.Context, p Params) (string, error) {
	key := p.CouponID + "-code"
	return psp.Write(ctx, c.Client, "create promotion code", key, func(ctx context.Context, api *calls.API) (string, error) {
		code, err := api.V1PromotionCodes.Create(ctx, &stripe.PromotionCodeCreateParams{
			Params: stripe.Params{IdempotencyKey: stripe.String(key)}, Code: stripe.String(p.Code),
			Promotion: &stripe.PromotionCodeCreatePromotionParams{Type: stripe.String("coupon"), Coupon: stripe.String(p.CouponID)},
		})
		if err != nil {
			return "", err
		}
		return code.ID, nil
	}, func(ctx context.Context) (string, error) {
		found, err := c.list(ctx, &stripe.PromotionCodeListParams{Coupon: stripe.String(p.CouponID)})
		if err == nil && len(found) == 0 {
			err = psp.ErrNotDone
		}
		if err != nil {
			return "", err
		}
		return found[0].ID, nil
	})
}

func (c Codes) list(ctx context.Context, params *stripe.PromotionCodeListParams) ([]*stripe.PromotionCode, error) {
	found, _, err := psp.Call(ctx, c.Client, "list promotion codes", func(ctx context.Context, api *calls.API) ([]*stripe.PromotionCode, error) {
		list := api.V1PromotionCodes.List(ctx, params)
		return list.Data(), list.Err()
	})
	return found, err
}

// createCoupon creates a coupon, unless it exists.
func (c Codes) createCoupon(ctx context.Context, p Params) error {
	params, err := c.couponParams(ctx, p)
	if err != nil {
		return err
	}
	_, err = psp.Write(ctx, c.Client, "create coupon", p.CouponID, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1Coupons.Create(ctx, params)
		if e, ok := errors.AsType[*stripe.Error](err); ok && e.Code == stripe.ErrorCodeResourceAlreadyExists {
			err = nil
		}
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		_, status, err := psp.Call(ctx, c.Client, "get coupon", func(ctx context.Context, api *calls.API) (*stripe.Coupon, error) {
			return api.V1Coupons.Retrieve(ctx, p.CouponID, nil)
		})
		if status == notFound {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

const notFound = 404

func (c Codes) couponParams(ctx context.Context, p Params) (*stripe.CouponCreateParams, error) {
	params := &stripe.CouponCreateParams{
		Params: stripe.Params{IdempotencyKey: stripe.String(p.CouponID)}, ID: stripe.String(p.CouponID), Name: stripe.String(shorten(p.Name)),
		Duration: stripe.String(p.Duration),
	}
	if p.Months != nil {
		params.DurationInMonths = stripe.Int64(int64(*p.Months))
	}
	if p.PercentOff != nil {
		params.PercentOff = stripe.Float64(float64(*p.PercentOff) / 100)
	}
	for i, a := range p.Amounts {
		units, err := c.Client.UnitsRead(ctx, a.Currency)
		if err != nil {
			return nil, err
		}
		amount, err := units.ToProvider(a.AmountCents)
		if err != nil {
			return nil, err
		}
		currency := strings.ToLower(a.Currency)
		if i == 0 {
			params.Currency, params.AmountOff = stripe.String(currency), stripe.Int64(amount)
			params.CurrencyOptions = map[string]*stripe.CouponCreateCurrencyOptionsParams{}
			continue
		}
		params.CurrencyOptions[currency] = &stripe.CouponCreateCurrencyOptionsParams{AmountOff: stripe.Int64(amount)}
	}
	return params, nil
}

// shorten returns the first characters of a name.
func shorten(name string) string {
	runes := []rune(name)
	return string(runes[:min(len(runes), maxName)])
}

// IsActive reports whether a promotion code can be redeemed. The code of a deleted coupon is not
// active (https://docs.stripe.com/api/promotion_codes/object, active).
func (c Codes) IsActive(ctx context.Context, id string) (bool, error) {
	code, status, err := psp.Call(ctx, c.Client, "get promotion code", func(ctx context.Context, api *calls.API) (*stripe.PromotionCode, error) {
		return api.V1PromotionCodes.Retrieve(ctx, id, nil)
	})
	if status == notFound {
		return false, nil
	}
	return err == nil && code.Active, err
}

// Deactivate deactivates a promotion code, so that its code can be used again. It is idempotent.
func (c Codes) Deactivate(ctx context.Context, id string) error {
	key := "deactivate-" + id
	_, err := psp.Write(ctx, c.Client, "deactivate promotion code", key, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1PromotionCodes.Update(ctx, id, &stripe.PromotionCodeUpdateParams{
			Params: stripe.Params{IdempotencyKey: stripe.String(key)}, Active: stripe.Bool(false),
		})
		return struct{}{}, err
	}, func(context.Context) (struct{}, error) { return struct{}{}, psp.ErrNotDone })
	return err
}

// Setting replaces or removes the discount of a subscription. The zero value keeps it.
type Setting struct {
	// PromotionCodeID or CouponID names the new discount. A coupon stays valid when its promotion
	// code is deactivated.
	PromotionCodeID, CouponID string
	Removes                   bool
}

// IsZero reports whether the discount stays as it is.
func (s Setting) IsZero() bool { return s == Setting{} }

func (s Setting) isMade(sub psp.Subscription) bool {
	switch {
	case s.Removes || sub.DiscountID == "":
		return s.Removes && sub.DiscountID == ""
	case s.CouponID != "":
		return sub.CouponID == s.CouponID
	default:
		return sub.PromotionCodeID == s.PromotionCodeID
	}
}

// Set replaces or removes the discount of a subscription. It applies from the next invoice
// (https://docs.stripe.com/billing/subscriptions/coupons).
func (c Codes) Set(ctx context.Context, subscriptionID string, s Setting, key string) error {
	params := &stripe.SubscriptionUpdateParams{Params: stripe.Params{IdempotencyKey: stripe.String(key)}}
	switch {
	case s.Removes:
		params.UnsetFields = []stripe.SubscriptionUpdateParamsUnsetField{stripe.SubscriptionUpdateParamsUnsetFieldDiscounts}
	case s.CouponID != "":
		params.Discounts = []*stripe.SubscriptionUpdateDiscountParams{{Coupon: stripe.String(s.CouponID)}}
	default:
		params.Discounts = []*stripe.SubscriptionUpdateDiscountParams{{PromotionCode: stripe.String(s.PromotionCodeID)}}
	}
	_, err := psp.Write(ctx, c.Client, "set discount", key, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1Subscriptions.Update(ctx, subscriptionID, params)
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		sub, err := c.Client.GetSubscription(ctx, subscriptionID)
		if err == nil && !s.isMade(sub) {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}
