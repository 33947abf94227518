package entitlement

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement/entitlementsql"
)

// publishedEntitlements are the entitlements that a tenant was last notified of.
type publishedEntitlements struct {
	tenantID uuid.UUID
	digest   string
}

// lockDigest locks the digest of a tenant until the transaction ends, and returns it. It returns "" if
// no digest was stored before.
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
func (s store) listDigests(ctx context.Context, after uuid.UUID, limit int32) ([]publishedEntitlements, error) {
	rows, err := s.q(ctx).Digests(ctx, entitlementsql.DigestsParams{After: after, Most: limit})
	list := make([]publishedEntitlements, len(rows))
	for i, row := range rows {
		list[i] = publishedEntitlements{row.TenantID, row.Digest}
	}
	return list, sqldb.Wrap(err, "list digests of entitlements")
}
