package tenant

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// maxFactorDays is how many days ahead a tenant can require a second factor.
const maxFactorDays = 90

var (
	errFactorMissing = fault.OnField("require_mfa", "validation.own_factor")
	errFactorDay     = fault.OnField("require_mfa_from", "validation.factor_day")
	errFactorUnset   = fault.OnField("require_mfa_from", "validation.factor_not_required")
)

// updateFactor is like Update, for a request that changes whether members need a second factor.
//
// Invariant: updateFactor locks the tenant, then the caller's user, and only then reads the caller
// again. Removing a factor locks the user too. So a caller whose last factor is removed
// concurrently cannot turn on the requirement afterwards.
func (s *Service) updateFactor(ctx context.Context, id uuid.UUID, change func(*Tenant) error) (t Tenant, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.Lock(ctx, id); err != nil {
			return err
		}
		if err := s.deps.Accounts.LockExisting(ctx, authz.FromContext(ctx).UserID); err != nil {
			return err
		}
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		t, err = s.Update(ctx, id, change)
		return err
	})
	return t, err
}

// applyFactor applies the fields of a request that set whether members need a second factor, and
// from which day (rules: account#required-factors). hasFactor reports whether the caller has a
// second factor. Absent fields leave the requirement unchanged.
func (s *Service) applyFactor(isRequired shape.Opt[bool], from shape.Opt[string], hasFactor bool, t *Tenant) error {
	if !isRequired.Set && !from.Set {
		return nil
	}
	required := isRequired.OrValue(t.FactorFrom != nil)
	if !required {
		if from.Set && !from.Null {
			return errFactorUnset
		}
		t.FactorFrom = nil
		return nil
	}
	if t.FactorFrom == nil && !hasFactor {
		return errFactorMissing
	}
	today := s.deps.Clock.Now().UTC().Truncate(24 * time.Hour)
	switch {
	case from.Set && !from.Null:
		day, err := time.Parse(time.DateOnly, from.Value)
		isPresent := err == nil && t.FactorFrom != nil && t.FactorFrom.Equal(day) // unchanged; may be in the past
		if err != nil || !isPresent && (day.Before(today) || day.After(today.AddDate(0, 0, maxFactorDays))) {
			return errFactorDay
		}
		t.FactorFrom = &day
	case t.FactorFrom == nil:
		t.FactorFrom = &today
	}
	return nil
}

// dayText returns a day in UTC as YYYY-MM-DD, or nil.
func dayText(day *time.Time) *string {
	if day == nil {
		return nil
	}
	text := day.UTC().Format(time.DateOnly)
	return &text
}
