package token

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/token/tokensql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *tokensql.Queries { return tokensql.New(s.db.Conn(ctx)) }

// keys returns the keys in use and the keys that were retired after a time, in the order in which
// they sign.
func (s store) keys(ctx context.Context, after time.Time) ([]key, error) {
	rows, err := s.q(ctx).Keys(ctx, &after)
	keys := make([]key, len(rows))
	for i, row := range rows {
		keys[i] = key{
			number: row.Number, id: row.KeyID, public: row.PublicKey, private: row.PrivateKey,
			activeAt: row.ActiveAt, retiredAt: row.RetiredAt,
		}
	}
	return keys, sqldb.Wrap(err, "list signing keys")
}

// lockKeysInUse locks the keys in use until the transaction ends.
func (s store) lockKeysInUse(ctx context.Context) error {
	_, err := s.q(ctx).LockKeysInUse(ctx)
	return sqldb.Wrap(err, "lock signing keys")
}

// insert stores a key. It does nothing if a key has the number already.
func (s store) insert(ctx context.Context, k key, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertKey(ctx, tokensql.InsertKeyParams{
		Number: k.number, KeyID: k.id, PublicKey: k.public, PrivateKey: k.private, ActiveAt: k.activeAt, CreatedAt: now,
	}), "insert signing key")
}

func (s store) activate(ctx context.Context, number int64, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).ActivateKey(ctx, tokensql.ActivateKeyParams{Number: number, ActiveAt: &now}), "activate signing key")
}

// retire marks a key as retired and deletes its private key.
func (s store) retire(ctx context.Context, number int64, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).RetireKey(ctx, tokensql.RetireKeyParams{Number: number, RetiredAt: &now}), "retire signing key")
}

// deleteRetired deletes the keys that were retired at or before a time.
func (s store) deleteRetired(ctx context.Context, before time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteRetiredKeys(ctx, &before), "delete retired signing keys")
}
