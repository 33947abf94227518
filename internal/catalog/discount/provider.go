package discount

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/promo"
)

// JobDeactivate is the kind of job that deactivates the provider's promotion code of a deleted
// discount.
const JobDeactivate = "discount.deactivate"

// couponPrefix is the prefix of the provider's coupons. The ID of a coupon is derived from the ID
// of its discount, so that the coupon is created once and can be found.
const couponPrefix = "discount-"

// CouponID returns the ID of the provider's coupon.
func (d Discount) CouponID() string { return couponPrefix + d.ID.String() }

// IDOfCoupon returns the ID of the discount of a coupon, or Nil for another coupon.
func IDOfCoupon(coupon string) uuid.UUID {
	text, ok := strings.CutPrefix(coupon, couponPrefix)
	if !ok {
		return uuid.Nil
	}
	id, _ := uuid.Parse(text)
	return id
}

// params returns the coupon and the promotion code in the form for the provider.
func (d Discount) params() promo.Params {
	p := promo.Params{
		CouponID: d.CouponID(), Code: d.Code, Name: i18n.Pick(d.Name, i18n.Default), PercentOff: d.PercentOff,
		Duration: d.Duration, Months: d.Months,
	}
	for _, a := range d.Amounts {
		p.Amounts = append(p.Amounts, promo.Amount(a))
	}
	return p
}

// CheckAtProvider returns promotion_code_invalid if the code of a discount was deactivated or its coupon
// was deleted at the provider. It returns nil for a code that was never used, which the provider does
// not have yet.
func (s *Service) CheckAtProvider(ctx context.Context, d Discount) error {
	if d.PSPCodeID == "" {
		return nil
	}
	isActive, err := s.provider.IsActive(ctx, d.PSPCodeID)
	if err == nil && !isActive {
		err = refusal(ReasonInactive)
	}
	return err
}

// EnsureCode returns the provider's promotion code of a discount. The first call creates the code
// and its coupon.
//
// Invariant: the discount is committed before the provider is called, and its ID names the coupon
// and the requests. So concurrent uses and retries after a lost response create one coupon and one
// code.
//
// EnsureCode returns promotion_code_invalid if another coupon has an active code with the same text, and
// in the cases of CheckAtProvider.
func (s *Service) EnsureCode(ctx context.Context, d Discount) (string, error) {
	if d.PSPCodeID != "" {
		return d.PSPCodeID, s.CheckAtProvider(ctx, d)
	}
	id, err := s.provider.Create(ctx, d.params(), func(ctx context.Context, coupon string) (bool, error) {
		other, err := s.store.load(ctx, IDOfCoupon(coupon))
		if errors.Is(err, catalog.ErrNotFound) { // the other code was made at the provider
			return false, nil
		}
		return err == nil && other.DeletedAt != nil, err
	})
	if errors.Is(err, psp.ErrRefused) {
		return "", refusal(ReasonInactive)
	}
	if err != nil {
		return "", err
	}
	return id, s.store.setPSPCode(ctx, d.ID, id)
}

// HandleDeactivate handles JobDeactivate.
func (s *Service) HandleDeactivate(ctx context.Context, job jobs.Job) error {
	var id uuid.UUID
	if err := job.Decode(&id); err != nil {
		return err
	}
	d, err := s.store.load(ctx, id)
	if err != nil || d.PSPCodeID == "" {
		return err
	}
	return psp.MarkPermanent(s.provider.Deactivate(ctx, d.PSPCodeID))
}
