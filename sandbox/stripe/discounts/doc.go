// Package discounts implements coupons, promotion codes and their discounts. It follows
// https://docs.stripe.com/api/coupons, https://docs.stripe.com/api/promotion_codes and
// https://docs.stripe.com/billing/subscriptions/coupons.
package discounts
