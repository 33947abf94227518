// Package discounts has coupons, promotion codes and their discounts. It is built from
// https://docs.stripe.com/api/coupons, https://docs.stripe.com/api/promotion_codes and
// https://docs.stripe.com/billing/subscriptions/coupons.
package discounts
