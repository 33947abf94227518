package entitlement

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
)

// TypeNone is the type of an override that takes a feature away.
const TypeNone catalog.EntitlementType = "none"

// Override replaces the plan's entitlement of a feature for one tenant, regardless of its
// subscription.
type Override struct {
	FeatureCode string
	Type        catalog.EntitlementType
	Value       *int64     // the limit of a quota in whole units; nil is unlimited
	ExpiresAt   *time.Time // nil for never
	Reason      string
	By          authz.Author
	CreatedAt   time.Time
}

// applies reports whether the override has not expired at the given time.
func (o Override) applies(now time.Time) bool { return o.ExpiresAt == nil || now.Before(*o.ExpiresAt) }

// limit returns the limit of the feature's meter, nil for unlimited. A feature that is taken away
// has a limit of 0, because a meter without an entitlement would be unlimited.
func (o Override) limit() *int64 {
	if o.Type == TypeNone {
		return new(int64)
	}
	return o.Value
}

// recordedOverride is an override in the audit log, or nil.
func recordedOverride(o *Override) any {
	if o == nil {
		return nil
	}
	return map[string]any{"feature_code": o.FeatureCode, "type": o.Type, "value": o.Value, "expires_at": o.ExpiresAt, "reason": o.Reason}
}

var (
	errNotFuture = fault.OnField("expires_at", "validation.after_now")
	errNoFeature = fault.New(fault.NotFound, "error.not_found")
)

// SetOverride replaces the override of a feature. An unknown feature is 404.
func (s *Service) SetOverride(ctx context.Context, tenantID uuid.UUID, o Override) error {
	return s.changeOverride(ctx, tenantID, o.FeatureCode, func(ctx context.Context, feature uuid.UUID, old *Override) error {
		o.By, o.CreatedAt = authz.AuthorOf(ctx), s.clock.Now()
		if !o.applies(o.CreatedAt) {
			return errNotFuture
		}
		if err := s.store.putOverride(ctx, tenantID, feature, o); err != nil {
			return err
		}
		return s.recordOverride(ctx, tenantID, "limit.updated", o.FeatureCode, old, &o)
	})
}

// DeleteOverride deletes the override of a feature, if there is one. An unknown feature is 404.
func (s *Service) DeleteOverride(ctx context.Context, tenantID uuid.UUID, code string) error {
	return s.changeOverride(ctx, tenantID, code, func(ctx context.Context, feature uuid.UUID, old *Override) error {
		if old == nil {
			return nil
		}
		if err := s.store.deleteOverride(ctx, tenantID, feature); err != nil {
			return err
		}
		return s.recordOverride(ctx, tenantID, "limit.deleted", code, old, nil)
	})
}

// changeOverride runs f with the current override of a feature, or nil, in a transaction that holds the
// tenant's lock, and publishes the changed entitlements.
func (s *Service) changeOverride(
	ctx context.Context, tenantID uuid.UUID, code string, f func(ctx context.Context, feature uuid.UUID, old *Override) error,
) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		feature, err := s.deps.Catalog.FeatureByCode(ctx, code)
		if errors.Is(err, catalog.ErrNotFound) {
			return errNoFeature
		}
		if err != nil {
			return err
		}
		terms, err := s.loadTerms(ctx, []uuid.UUID{tenantID})
		if err != nil {
			return err
		}
		if err := f(ctx, feature.ID, terms[tenantID].override(code, s.clock.Now())); err != nil {
			return err
		}
		return s.PublishChange(ctx, tenantID)
	})
}

// override returns the override of a feature at the given time, or nil.
func (t Terms) override(code string, now time.Time) *Override {
	for i := range t.Overrides {
		if o := &t.Overrides[i]; o.FeatureCode == code && o.applies(now) {
			return o
		}
	}
	return nil
}

func (s *Service) recordOverride(ctx context.Context, tenantID uuid.UUID, action, code string, before, after *Override) error {
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &tenantID, Resource: "limit", ResourceID: code,
		Before: recordedOverride(before), After: recordedOverride(after),
	})
}

// expiredPerRun is the maximum number of tenants whose overrides one run of Expire deletes, and the
// maximum number of grace periods that it ends.
const expiredPerRun = 500

// Expire deletes expired overrides. It publishes the entitlements that changed because of these, or
// because a grace period ended. It is a periodic job.
func (s *Service) Expire(ctx context.Context) error {
	return errors.Join(s.expireOverrides(ctx), s.endGracePeriods(ctx))
}

// endGracePeriods publishes the entitlements of tenants whose grace period has ended.
func (s *Service) endGracePeriods(ctx context.Context) error {
	if s.grace == 0 {
		return nil
	}
	ended, err := s.store.listGraceEnded(ctx, s.clock.Now().Add(-s.grace), expiredPerRun)
	if err != nil {
		return err
	}
	for _, sub := range ended {
		err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.store.markGraceEnded(ctx, sub); err != nil {
				return err
			}
			return s.PublishChange(ctx, sub.TenantID)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) expireOverrides(ctx context.Context) error {
	tenants, err := s.store.listExpired(ctx, s.clock.Now(), expiredPerRun)
	if err != nil {
		return err
	}
	for _, id := range tenants {
		err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.store.deleteExpired(ctx, id, s.clock.Now()); err != nil {
				return err
			}
			return s.PublishChange(ctx, id)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
