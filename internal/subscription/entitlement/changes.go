package entitlement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement/entitlementsql"
)

// tenantsPerPage is how many tenants HandlePublish compares at once.
const tenantsPerPage = 200

// rows returns the entitlements as the API shows them.
func (t Terms) rows() []Entitlement {
	if !t.grantsFeatures() {
		return []Entitlement{}
	}
	list := make([]Entitlement, len(t.Features))
	for i, f := range t.Features {
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

// PublishChange publishes entitlements.changed if the entitlements of a tenant differ from the ones
// that were published last. Call it at the end of a transaction that may have changed them.
//
// Invariant: the row with the digest is locked before the entitlements are read, so that of two
// concurrent changes the later one sees both, and each state is published once.
func (s *Service) PublishChange(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		rows, changed, err := s.compare(ctx, tenantID)
		if err != nil || !changed {
			return err
		}
		return hook.Publish(ctx, s.deps.Events, hook.EntitlementsChanged, tenantID, hook.StaticData(rows))
	})
}

// compare stores the digest of the present entitlements of a tenant, and reports whether they differ
// from the ones stored before. It runs in a transaction.
func (r Register) compare(ctx context.Context, tenantID uuid.UUID) (rows []Entitlement, changed bool, err error) {
	previous, err := r.store.lockDigest(ctx, tenantID)
	if err != nil {
		return nil, false, err
	}
	terms, err := r.loadTerms(ctx, []uuid.UUID{tenantID})
	if err != nil {
		return nil, false, err
	}
	rows = rowsOf(terms, tenantID)
	current, err := digest(rows)
	if err != nil || current == previous {
		return rows, false, err
	}
	return rows, true, r.store.putDigest(ctx, tenantID, current)
}

// rowsOf returns the entitlements of a tenant; none without terms.
func rowsOf(terms map[uuid.UUID]Terms, tenantID uuid.UUID) []Entitlement {
	if t, found := terms[tenantID]; found {
		return t.rows()
	}
	return []Entitlement{}
}

// HandlePublish is the handler of catalog.JobChanged. It may run again after an interruption: tenants whose
// change was published are not notified twice.
func (s *Service) HandlePublish(ctx context.Context, _ jobs.Job) error {
	after := uuid.Nil
	for {
		published, err := s.store.listDigests(ctx, after, tenantsPerPage)
		if err != nil || len(published) == 0 {
			return err
		}
		if err := s.publishPage(ctx, published); err != nil {
			return err
		}
		after = published[len(published)-1].TenantID
	}
}

// publishPage publishes the changes of some tenants. Only the tenants with a change are locked.
func (s *Service) publishPage(ctx context.Context, published []entitlementsql.EntitlementDigest) error {
	ids := make([]uuid.UUID, len(published))
	for i, p := range published {
		ids[i] = p.TenantID
	}
	terms, err := s.loadTerms(ctx, ids)
	if err != nil {
		return err
	}
	for _, p := range published {
		current, err := digest(rowsOf(terms, p.TenantID))
		if err != nil {
			return err
		}
		if current == p.Digest {
			continue
		}
		if err := s.PublishChange(ctx, p.TenantID); err != nil {
			return err
		}
	}
	return nil
}

// lockDigest locks the digest of a tenant until the transaction ends, and returns it; empty for a
// tenant without one.
func (s store) lockDigest(ctx context.Context, tenantID uuid.UUID) (string, error) {
	if err := s.q(ctx).InsertDigest(ctx, tenantID); err != nil {
		return "", sqldb.Wrap(err, "insert digest of entitlements")
	}
	text, err := s.q(ctx).LockDigest(ctx, tenantID)
	return text, sqldb.Wrap(err, "lock digest of entitlements")
}

func (s store) putDigest(ctx context.Context, tenantID uuid.UUID, text string) error {
	err := s.q(ctx).PutDigest(ctx, entitlementsql.PutDigestParams{TenantID: tenantID, Digest: text})
	return sqldb.Wrap(err, "store digest of entitlements")
}

// listDigests lists the digests of tenants that are not deleted, in the order of their ids.
func (s store) listDigests(ctx context.Context, after uuid.UUID, limit int32) ([]entitlementsql.EntitlementDigest, error) {
	rows, err := s.q(ctx).Digests(ctx, entitlementsql.DigestsParams{After: after, Most: limit})
	return rows, sqldb.Wrap(err, "list digests of entitlements")
}
