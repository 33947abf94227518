package discount

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// Use is the intended use of a code.
type Use struct {
	TenantID uuid.UUID // Nil for a tenant that does not exist yet
	PlanID   uuid.UUID
	// PriceCents is the price of a unit, in minor units of Currency.
	PriceCents, Quantity int64
	Currency             string
}

// Find returns the discount of a code. If the use cannot redeem the code, it returns
// promotion_code_invalid with the reason. For the empty code it returns nil. It does not hold a
// redemption: see Hold.
func (s *Service) Find(ctx context.Context, code string, u Use) (*Discount, error) {
	code = strings.TrimSpace(code)
	if code == "" {
		return nil, nil //nolint:nilnil // no code, no discount
	}
	d, err := s.store.byCode(ctx, code)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, refusal(ReasonUnknown)
	}
	if err == nil {
		err = s.check(ctx, d, u)
	}
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// check returns the first reason why a use cannot redeem a discount.
func (s *Service) check(ctx context.Context, d Discount, u Use) error {
	if reason := d.refuses(u, s.clock.Now()); reason != "" {
		return refusal(reason)
	}
	if d.MaxRedemptions != nil {
		held, err := s.store.countHolds(ctx, d.ID, u.TenantID)
		if err != nil {
			return err
		}
		if d.Redemptions+held >= *d.MaxRedemptions {
			return refusal(ReasonUsedUp)
		}
	}
	if u.TenantID != uuid.Nil {
		if err := s.checkTenant(ctx, d, u.TenantID); err != nil {
			return err
		}
	}
	units, err := s.units(ctx, u.Currency)
	if err != nil {
		return err
	}
	total := u.PriceCents * u.Quantity
	if rest := total - d.Reduction(total, u.Currency, units.Step()); rest > 0 && rest < units.Minimum() {
		return refusal(ReasonBelowMinimum)
	}
	return nil
}

// refuses returns the reason why a use cannot redeem the discount, or "". It ignores redemptions
// and invoices.
func (d Discount) refuses(u Use, now time.Time) Reason {
	_, inCurrency := d.AmountIn(u.Currency)
	switch {
	case d.DeletedAt != nil:
		return ReasonUnknown
	case !d.IsActive || d.StartsAt != nil && now.Before(*d.StartsAt):
		return ReasonInactive
	case d.EndsAt != nil && !now.Before(*d.EndsAt):
		return ReasonExpired
	case !d.Covers(u.PlanID, u.PriceCents):
		return ReasonNotForPlan
	case d.PercentOff == nil && !inCurrency:
		return ReasonNotForCurrency
	}
	return ""
}

// checkTenant refuses a tenant that has redeemed the code MaxPerTenant times. If the discount is
// for first purchases only, it also refuses a tenant that has paid an invoice.
func (s *Service) checkTenant(ctx context.Context, d Discount, tenantID uuid.UUID) error {
	redeemed, err := s.store.countOfTenant(ctx, tenantID, d.ID)
	if err != nil {
		return err
	}
	if d.MaxPerTenant != nil && redeemed >= *d.MaxPerTenant {
		return refusal(ReasonAlreadyUsed)
	}
	if !d.FirstPurchaseOnly {
		return nil
	}
	paid, err := s.store.hasPaidInvoice(ctx, tenantID)
	if err == nil && paid {
		err = refusal(ReasonFirstPurchaseOnly)
	}
	return err
}

// units returns the provider's units of a currency.
func (s *Service) units(ctx context.Context, currency string) (charge.Units, error) {
	decimals, known, err := s.decimals(ctx, currency)
	if err != nil || !known {
		return charge.ProviderUnits(currency), err
	}
	units, err := charge.UnitsOf(currency, decimals)
	if errors.Is(err, charge.ErrMinorUnits) {
		return charge.ProviderUnits(currency), nil
	}
	return units, err
}

// Step returns the smallest amount that the provider can charge in a currency.
func (s *Service) Step(ctx context.Context, currency string) (int64, error) {
	units, err := s.units(ctx, currency)
	return units.Step(), err
}

// Hold reserves a use of a discount for a checkout or an operation with the given ID, until the use
// is redeemed or released. Call it in the transaction that stores the holder, under the tenant's
// lock and before the provider is called. A tenant holds at most one use of a discount, even with
// several checkouts, because only one checkout can become the tenant's subscription.
//
// Invariant: redemptions and holds of a discount never exceed its maximum. Both are counted under
// the lock of the discount's row, and a hold is released only when its session or operation is
// over.
func (s *Service) Hold(ctx context.Context, id, discountID uuid.UUID, u Use, until *time.Time) error {
	d, err := s.store.lock(ctx, discountID)
	if err != nil {
		return err
	}
	if err := s.check(ctx, d, u); err != nil {
		return err
	}
	return s.store.insertHold(ctx, id, u.TenantID, discountID, until, s.clock.Now())
}

// ExpiredHolds lists the holders of a code whose holds have expired.
func (s *Service) ExpiredHolds(ctx context.Context, code string) ([]Holder, error) {
	d, err := s.store.byCode(ctx, strings.TrimSpace(code))
	if err != nil {
		return nil, err
	}
	return s.store.expiredHolds(ctx, d.ID, s.clock.Now())
}

// Has reports whether a discount has the code, ignoring case.
func (s *Service) Has(ctx context.Context, id uuid.UUID, code string) bool {
	d, err := s.store.load(ctx, id)
	return err == nil && codeKey(d.Code) == codeKey(strings.TrimSpace(code))
}

// Holder is a checkout or an operation that holds a use.
type Holder struct{ TenantID, ID uuid.UUID }

// Redeem counts the use that a checkout or an operation holds, once, and returns its discount. It
// returns nil if nothing is held. Call it in the transaction that stores the result.
func (s *Service) Redeem(ctx context.Context, tenantID, id uuid.UUID) (*Discount, error) {
	discountID, err := s.store.discountOfHold(ctx, tenantID, id)
	if errors.Is(err, errNoHold) {
		return nil, nil //nolint:nilnil // nothing is held
	}
	if err != nil {
		return nil, err
	}
	d, err := s.store.lock(ctx, discountID)
	if err != nil {
		return nil, err
	}
	first, err := s.store.redeem(ctx, tenantID, id, s.clock.Now())
	if err != nil || !first {
		return nil, err
	}
	return &d, s.store.countRedemption(ctx, discountID)
}

// Release releases the use that a checkout or an operation holds. If the code was already redeemed,
// the redemption stays.
func (s *Service) Release(ctx context.Context, tenantID, id uuid.UUID) error {
	return s.store.release(ctx, tenantID, id)
}

// Discard deletes the holds and redemptions of a tenant that is about to be deleted.
func (s *Service) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return s.store.releaseTenant(ctx, tenantID)
}
