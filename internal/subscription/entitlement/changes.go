package entitlement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
)

// tenantsPerPage is how many tenants HandlePublish compares at once.
const tenantsPerPage = 200

// rows returns the entitlements at the given time, in the form of the API.
func (t Terms) rows(now time.Time) []Entitlement {
	features := t.featuresAt(now)
	list := make([]Entitlement, len(features))
	for i, f := range features {
		list[i] = Entitlement{Key: f.Code, Enabled: true, Type: string(f.Type), Limit: f.Quota}
	}
	return list
}

// digest identifies the entitlements that a tenant was last notified of.
func digest(rows []Entitlement) (string, error) {
	text, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("encode entitlements: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// RecordEntitlements stores the entitlements of a new tenant, so that later changes are published.
func (r Register) RecordEntitlements(ctx context.Context, tenantID uuid.UUID) error {
	_, _, err := r.compare(ctx, tenantID)
	return err
}

// PublishChange publishes entitlements.changed if the entitlements of a tenant differ from the last
// published ones. Call it at the end of a transaction that may have changed them.
//
// Invariant: the row with the digest is locked before the entitlements are read. Of two concurrent
// changes, the second one therefore sees both, and each state is published once.
func (s *Service) PublishChange(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		rows, changed, err := s.compare(ctx, tenantID)
		if err != nil || !changed {
			return err
		}
		return hook.Publish(ctx, s.deps.Events, hook.EntitlementsChanged, tenantID, hook.StaticData(rows))
	})
}

// compare stores the digest of the current entitlements of a tenant, and reports whether it differs
// from the digest stored before. It runs in a transaction.
func (r Register) compare(ctx context.Context, tenantID uuid.UUID) (rows []Entitlement, changed bool, err error) {
	previous, err := r.store.lockDigest(ctx, tenantID)
	if err != nil {
		return nil, false, err
	}
	terms, err := r.loadTerms(ctx, []uuid.UUID{tenantID})
	if err != nil {
		return nil, false, err
	}
	rows = terms[tenantID].rows(r.clock.Now())
	current, err := digest(rows)
	if err != nil || current == previous {
		return rows, false, err
	}
	return rows, true, r.store.putDigest(ctx, tenantID, current)
}

// HandlePublish is the handler of catalog.JobChanged. It may run again after an interruption: tenants whose
// change was published are not notified twice.
func (s *Service) HandlePublish(ctx context.Context, _ jobs.Job) error {
	after := uuid.Nil
	for {
		page, err := s.store.listDigests(ctx, after, tenantsPerPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := s.publishPage(ctx, page); err != nil {
			return err
		}
		after = page[len(page)-1].tenantID
	}
}

// publishPage publishes the changes of some tenants. Only the tenants with a change are locked.
func (s *Service) publishPage(ctx context.Context, page []publishedEntitlements) error {
	ids := make([]uuid.UUID, len(page))
	for i, p := range page {
		ids[i] = p.tenantID
	}
	terms, err := s.loadTerms(ctx, ids)
	if err != nil {
		return err
	}
	for _, p := range page {
		current, err := digest(terms[p.tenantID].rows(s.clock.Now()))
		if err != nil {
			return err
		}
		if current == p.digest {
			continue
		}
		if err := s.PublishChange(ctx, p.tenantID); err != nil {
			return err
		}
	}
	return nil
}
