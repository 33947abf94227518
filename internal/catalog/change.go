package catalog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// subscriptionChecker reports which plans are in use.
type subscriptionChecker interface {
	// HasSubscribers reports whether one of the plans has a subscription that is neither canceled
	// nor incomplete_expired.
	HasSubscribers(ctx context.Context, plans []uuid.UUID) (bool, error)
}

// jobQueue is the queue of background jobs; *jobs.Queue implements it.
type jobQueue interface {
	Enqueue(ctx context.Context, kind string, payload any, opts ...jobs.Option) error
}

// JobChanged is the kind of the job that follows a change of the catalog and publishes the changed
// entitlements.
const JobChanged = "catalog.changed"

// Audit is the audit log. *audit.Log implements it.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Change runs f, passing the time of the change, in a transaction that holds the catalog lock.
// After the commit, readers on this instance see the change.
//
// Invariant: catalog changes are serialized across all processes. Anything that f reads remains
// true until it commits, for example that a slug is free, that a feature is not deleted, or which
// prices a plan has.
func (s *Service) Change(ctx context.Context, f func(ctx context.Context, now time.Time) error) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.Lock(ctx); err != nil {
			return err
		}
		if err := f(ctx, s.clock.Now()); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.InvalidateCache)
		if s.jobs == nil {
			return nil
		}
		return s.jobs.Enqueue(ctx, JobChanged, nil, jobs.Key("all"))
	})
}

// Lock takes the catalog lock until the transaction of ctx ends.
func (s *Service) Lock(ctx context.Context) error { return s.store.lock(ctx) }

// requireUnused returns errInUse if one of the plans has a subscription that has not ended.
//
// Invariant: the caller must have locked the plans' rows. A transaction that creates a subscription
// to one of the plans, or moves a subscription to it, locks the same row through the foreign key.
// The subscription is therefore either visible to this check or stored after this transaction.
func (s *Service) requireUnused(ctx context.Context, plans ...uuid.UUID) error {
	if err := distribution.LockCatalog(ctx, s.db); err != nil {
		return err
	}
	used, err := s.subscriptions.HasSubscribers(ctx, plans)
	if err == nil && used {
		err = errInUse
	}
	return err
}

// Record adds an audit entry for a catalog record. resource is the kind of record ("plan"). before
// and after are its fields under their API names, or nil.
func (s *Service) Record(ctx context.Context, resource, action string, id uuid.UUID, before, after any) error {
	return s.audit.Record(ctx, audit.Entry{
		Action: resource + "." + action, Resource: resource, ResourceID: id.String(), Before: before, After: after,
	})
}

// checkTexts adds an invalid field for each text without an English version
// (rules: http#translatable-fields).
func checkTexts(broken *fault.Fields, name, description Text) {
	if name[i18n.Default] == "" {
		broken.Add("name."+i18n.Default, "validation.required")
	}
	if len(description) > 0 && description[i18n.Default] == "" {
		broken.Add("description."+i18n.Default, "validation.required")
	}
}

// With returns a copy of the text with changes applied. A nil or empty string removes the locale.
// The result is nil if all locales are removed.
func (t Text) With(changes map[string]*string) Text {
	next := make(Text, len(t)+len(changes))
	for locale, text := range t {
		next[locale] = text
	}
	for locale, text := range changes {
		if text == nil || *text == "" {
			delete(next, locale)
		} else {
			next[locale] = *text
		}
	}
	if len(next) == 0 {
		return nil
	}
	return next
}

// requirePermission returns errForbidden if a platform admin lacks a permission that only part of a
// change requires. It is checked after the request itself is validated. Commands run without a
// caller and need no permission.
func requirePermission(ctx context.Context, permission string) error {
	if caller := authz.FromContext(ctx); caller != nil && !caller.CanOnPlatform(permission) {
		return errForbidden
	}
	return nil
}
