package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/idempotency/idempotencysql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// errNoEntry means that the key is not stored.
var errNoEntry = errors.New("the idempotency key is unknown")

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *idempotencysql.Queries {
	return idempotencysql.New(s.db.Conn(ctx))
}

// insert leases a new key. It reports false if the key is already stored.
func (s store) insert(ctx context.Context, id, bodyHash string, leaseID uuid.UUID, until, now time.Time) (bool, error) {
	n, err := s.q(ctx).InsertKey(ctx, idempotencysql.InsertKeyParams{
		ID: id, BodyHash: bodyHash, LeaseID: &leaseID, LeasedUntil: until, CreatedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "insert idempotency key")
}

// entry returns a stored key, or errNoEntry.
func (s store) entry(ctx context.Context, id string) (entry, error) {
	row, err := s.q(ctx).Key(ctx, id)
	e := entry{
		bodyHash: row.BodyHash, leaseID: row.LeaseID, leasedUntil: row.LeasedUntil, createdAt: row.CreatedAt,
		response: Response{Status: int(row.Status), Body: row.Response},
	}
	return e, sqldb.WrapAbsent(err, "read idempotency key", errNoEntry)
}

// complete stores the response of the request that holds the lease.
func (s store) complete(ctx context.Context, id string, leaseID uuid.UUID, r Response) error {
	err := s.q(ctx).CompleteKey(ctx, idempotencysql.CompleteKeyParams{ID: id, LeaseID: &leaseID, Status: int32(r.Status), Response: r.Body})
	return sqldb.Wrap(err, "store response of idempotency key")
}

// release deletes the key if the lease is still held.
func (s store) release(ctx context.Context, id string, leaseID uuid.UUID) error {
	err := s.q(ctx).ReleaseKey(ctx, idempotencysql.ReleaseKeyParams{ID: id, LeaseID: &leaseID})
	return sqldb.Wrap(err, "release idempotency key")
}

// remove deletes an entry unless it has changed since it was read.
func (s store) remove(ctx context.Context, id string, e entry) error {
	if e.leaseID != nil {
		return s.release(ctx, id, *e.leaseID)
	}
	err := s.q(ctx).RemoveOldKey(ctx, idempotencysql.RemoveOldKeyParams{ID: id, CreatedAt: e.createdAt})
	return sqldb.Wrap(err, "remove old idempotency key")
}

func (s store) endLeases(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).EndLeases(ctx, time.Unix(0, 0).UTC()), "end leases of idempotency keys")
}

func (s store) deleteOld(ctx context.Context, earliest, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteOldKeys(ctx, idempotencysql.DeleteOldKeysParams{Earliest: earliest, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete old idempotency keys")
}
