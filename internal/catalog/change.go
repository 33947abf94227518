package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
)

// Subscriptions tells what of the catalog is subscribed to.
type Subscriptions interface {
	// AnyTo tells whether a subscription that is not canceled or
	// incomplete_expired is to one of the plans.
	AnyTo(ctx context.Context, plans []uuid.UUID) (bool, error)
}

// Audit keeps the trail of what was changed; *audit.Log is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// change runs f, given the time of the change, in a transaction under the
// catalog's lock, and then lets readers on this instance see what it did.
//
// Invariant: changes of the catalog happen one after the other, in whichever
// process. What f reads stays true until it commits: that a slug is free, that a
// feature is not deleted, which prices a plan has.
func (s *Service) change(ctx context.Context, f func(ctx context.Context, now time.Time) error) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.q(ctx).LockCatalog(ctx); err != nil {
			return fmt.Errorf("lock the catalog: %w", err)
		}
		if err := f(ctx, s.clock.Now()); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.Changed)
		return nil
	})
}

// unused is ErrInUse while a subscription that is not over is to one of the
// plans.
//
// Invariant: the plans' rows are locked. A subscription that is being made, or
// moved, to one of them locks the same row by its reference: it is either seen
// here, or made when the change is committed.
func (s *Service) unused(ctx context.Context, plans ...uuid.UUID) error {
	used, err := s.subscriptions.AnyTo(ctx, plans)
	if err == nil && used {
		err = ErrInUse
	}
	return err
}

// record adds an entry about a product, plan or feature to the trail; before and
// after are maps by the API's names, or nil.
func (s *Service) record(ctx context.Context, resource, action string, id uuid.UUID, before, after any) error {
	return s.audit.Record(ctx, audit.Entry{
		Action: resource + "." + action, Resource: resource, ResourceID: id.String(), Before: before, After: after,
	})
}

// checkTexts holds that there is English wherever there is a text (spec:
// Translatable fields).
func checkTexts(broken *fault.Fields, name, description Text) {
	if name[i18n.Default] == "" {
		broken.Add("name."+i18n.Default, "validation.required")
	}
	if len(description) > 0 && description[i18n.Default] == "" {
		broken.Add("description."+i18n.Default, "validation.required")
	}
}

// With returns the text with changes: a locale that is nil or empty is removed. A
// text without any is nil.
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
