package apikey

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/apikey/apikeysql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *apikeysql.Queries { return apikeysql.New(s.db.Conn(ctx)) }

func (s store) insert(ctx context.Context, tenantID *uuid.UUID, k Key, hash string) error {
	row := apikeysql.InsertKeyParams{
		ID: k.ID, TenantID: tenantID, Name: k.Name, Prefix: k.Prefix, SecretHash: hash, Scopes: strings.Join(k.Scopes, ","),
		LifetimeDays: k.lifetimeDays, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt,
	}
	if k.CreatedBy != nil {
		row.CreatedBy = &k.CreatedBy.ID
	}
	if err := s.q(ctx).InsertKey(ctx, row); err != nil {
		return sqldb.Wrap(err, "insert API key")
	}
	return s.putWords(ctx, tenantID, k.ID, k.Name, k.Prefix)
}

// putWords stores the words by which a key is found.
func (s store) putWords(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, name, prefix string) error {
	return search.NewIndex(s.db).Put(ctx, search.Object{Kind: search.APIKey, ID: id, TenantID: tenantID, Texts: []string{name}, Wholes: []string{prefix}})
}

// list returns a page of the keys that have not ended before since, and their total number.
func (s store) list(ctx context.Context, tenantID *uuid.UUID, since time.Time, q page.Query) ([]Key, int64, error) {
	sel := page.Select{
		Columns: "k.id, k.name, k.prefix, k.scopes, k.lifetime_days, k.created_by, k.created_at, k.last_used_at, k.expires_at, k.revoked_at, k.rotated_at, u.name",
		From:    "api_keys k", Join: "LEFT JOIN users u ON u.id = k.created_by",
		Where: "(k.revoked_at IS NULL OR k.revoked_at >= $1) AND (k.expires_at IS NULL OR k.expires_at >= $1) AND k.tenant_id ",
		Args:  []any{since},
	}
	if tenantID == nil {
		sel.Where += "IS NULL"
	} else {
		sel.Where += "= $2"
		sel.Args = append(sel.Args, *tenantID)
	}
	list, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (Key, error) {
		var r apikeysql.KeyRow
		err := row.Scan(
			&r.ID, &r.Name, &r.Prefix, &r.Scopes, &r.LifetimeDays, &r.CreatedBy, &r.CreatedAt, &r.LastUsedAt, &r.ExpiresAt, &r.RevokedAt,
			&r.RotatedAt, &r.Creator,
		)
		return keyOf(r), err
	})
	return list, total, sqldb.Wrap(err, "list API keys")
}

func keyOf(row apikeysql.KeyRow) Key {
	k := Key{
		ID: row.ID, Name: row.Name, Prefix: row.Prefix, Scopes: strings.Split(row.Scopes, ","), CreatedAt: row.CreatedAt,
		LastUsedAt: row.LastUsedAt, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt,
		lifetimeDays: row.LifetimeDays, rotatedAt: row.RotatedAt,
	}
	if row.CreatedBy != nil && row.Creator != nil {
		k.CreatedBy = &Person{ID: *row.CreatedBy, Name: *row.Creator}
	}
	return k
}

// get returns a key. It returns errNotFound if the key does not exist.
func (s store) get(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (Key, error) {
	row, err := s.q(ctx).Key(ctx, apikeysql.KeyParams{ID: id, TenantID: tenantID})
	return keyOf(row), sqldb.WrapAbsent(err, "read API key", errNotFound)
}

// lock locks a key and returns it. It returns errNotFound if the key does not exist.
func (s store) lock(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (Key, error) {
	if err := s.q(ctx).LockKey(ctx, apikeysql.LockKeyParams{ID: id, TenantID: tenantID}); err != nil {
		return Key{}, sqldb.Wrap(err, "lock API key")
	}
	return s.get(ctx, tenantID, id)
}

// countLive counts the tenant's active keys and how many of them were rotated.
func (s store) countLive(ctx context.Context, tenantID uuid.UUID, now time.Time) (apikeysql.CountLiveKeysRow, error) {
	n, err := s.q(ctx).CountLiveKeys(ctx, apikeysql.CountLiveKeysParams{TenantID: tenantID, Now: &now})
	return n, sqldb.Wrap(err, "count API keys")
}

func (s store) rename(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, name string) error {
	prefix, err := s.q(ctx).RenameKey(ctx, apikeysql.RenameKeyParams{ID: id, Name: name, TenantID: tenantID})
	if err != nil {
		return sqldb.Wrap(err, "rename API key")
	}
	return s.putWords(ctx, tenantID, id, name, prefix)
}

// setEnd stores the expiry, revocation and rotation times of a key.
func (s store) setEnd(ctx context.Context, tenantID *uuid.UUID, k Key) error {
	err := s.q(ctx).EndKey(ctx, apikeysql.EndKeyParams{
		ID: k.ID, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, RotatedAt: k.rotatedAt, TenantID: tenantID,
	})
	return sqldb.Wrap(err, "end API key")
}

func (s store) markUsed(ctx context.Context, id uuid.UUID, at time.Time) error {
	return sqldb.Wrap(s.q(ctx).MarkKeyUsed(ctx, apikeysql.MarkKeyUsedParams{ID: id, LastUsedAt: &at}), "mark API key as used")
}

// keyTables returns the tables that keysByHash reads.
func keyTables() []string { return []string{"api_keys", "tenants"} }

// keysByHash returns the unrevoked keys for the lookups, each with the tenant that it acts for. It
// omits keys of deleted tenants.
func (s store) keysByHash(ctx context.Context, lookups []lookup) (map[lookup]foundKey, error) {
	known := make(map[lookup]foundKey, len(lookups))
	rows := make([]any, 0, 2*len(lookups))
	for _, l := range lookups {
		rows = append(rows, l.secretHash, l.tenantID)
	}
	values, args := sqldb.Values(s.db, 1, rows, "text", "uuid")
	return known, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "look up API keys",
		Text: `SELECT
    v.column1, v.column2, k.id, k.name, k.scopes, k.tenant_id IS NULL, k.expires_at, k.last_used_at,
    tn.id, tn.name, tn.onboarding_completed_at IS NOT NULL
FROM (` + values + `) AS v
JOIN api_keys k ON k.secret_hash = v.column1
LEFT JOIN tenants tn ON tn.id = COALESCE(k.tenant_id, v.column2) AND tn.deleted_at IS NULL
WHERE k.revoked_at IS NULL AND (k.tenant_id IS NULL OR tn.id IS NOT NULL)`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var l lookup
			var k foundKey
			err := scan(
				&l.secretHash, &l.tenantID, &k.id, &k.name, &k.scopes, &k.isPlatform, &k.expiresAt, &k.lastUsedAt,
				&k.tenantID, &k.tenantName, &k.isOnboarded,
			)
			known[l] = k
			return err
		},
	})
}
