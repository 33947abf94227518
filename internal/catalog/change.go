package catalog

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
)

// Subscriptions answers what of the catalog is subscribed to.
type Subscriptions interface {
	// HasSubscribers reports whether a subscription that is neither canceled nor
	// incomplete_expired is to one of the plans.
	HasSubscribers(ctx context.Context, plans []uuid.UUID) (bool, error)
}

// Audit is the audit trail of changes; *audit.Log implements it.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Change runs f with the time of the change, in a transaction that holds the
// catalog's lock. After the commit readers on this instance see the change.
//
// Invariant: changes of the catalog happen one after the other, in all processes
// together. What f reads stays true until it commits: that a slug is free, that a
// feature is not deleted, which prices a plan has.
func (s *Service) Change(ctx context.Context, f func(ctx context.Context, now time.Time) error) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.Lock(ctx); err != nil {
			return err
		}
		if err := f(ctx, s.clock.Now()); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.InvalidateCache)
		return nil
	})
}

// Lock keeps everybody else from changing the catalog until the transaction of ctx
// ends.
func (s *Service) Lock(ctx context.Context) error { return s.store.lock(ctx) }

// requireUnused is errInUse while a subscription that has not ended is to one of the
// plans.
//
// Invariant: the caller has locked the plans' rows. Creating a subscription to one
// of them, or moving one there, locks the same row through the foreign key. The
// subscription is therefore either seen here, or stored after this transaction.
func (s *Service) requireUnused(ctx context.Context, plans ...uuid.UUID) error {
	used, err := s.subscriptions.HasSubscribers(ctx, plans)
	if err == nil && used {
		err = errInUse
	}
	return err
}

// Record adds an entry about a record of the catalog to the audit trail: resource is
// its kind ("plan"), before and after are its fields by the API's names, or nil.
func (s *Service) Record(ctx context.Context, resource, action string, id uuid.UUID, before, after any) error {
	return s.audit.Record(ctx, audit.Entry{
		Action: resource + "." + action, Resource: resource, ResourceID: id.String(), Before: before, After: after,
	})
}

// checkTexts adds a broken field for each text that has no English
// (rules: http#translatable-fields).
func checkTexts(broken *fault.Fields, name, description Text) {
	if name[i18n.Default] == "" {
		broken.Add("name."+i18n.Default, "validation.required")
	}
	if len(description) > 0 && description[i18n.Default] == "" {
		broken.Add("description."+i18n.Default, "validation.required")
	}
}

// With returns the text with changes. A locale that is nil or empty is removed; when
// no locale is left the result is nil.
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

// needPermission refuses a platform admin without a permission that only a part of the change
// needs. Its refusal comes after those of the request. A command needs no permission.
func needPermission(ctx context.Context, permission string) error {
	if caller := authz.FromContext(ctx); caller != nil && !caller.CanOnPlatform(permission) {
		return errForbidden
	}
	return nil
}
