package distribution

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Citus cannot lock rows of several shards in one statement, and it locks a row of a reference
// table by locking the whole table. Recording therefore uses a transaction per shard, and advisory
// locks replace the row locks of meters and tenants. Every instance connects to the coordinator,
// which holds the advisory locks.

// anyDistributed is the name of a distributed table. All distributed tables have the same shards.
const anyDistributed = "usage_streams"

// ByShard groups items by the shard of their tenants. A group holds the indexes of its items, in
// order. The database must be distributed.
func ByShard[T any](ctx context.Context, db *sqldb.DB, items []T, tenant func(T) uuid.UUID) (groups [][]int, err error) {
	const query = `SELECT get_shard_id_for_distribution_column('` + anyDistributed + `', id) FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, n) ORDER BY n`
	tenants := make([]uuid.UUID, len(items))
	for i, item := range items {
		tenants[i] = tenant(item)
	}
	i, places := 0, map[int64]int{}
	err = db.QueryAll(ctx, sqldb.Query{Doing: "find shards of tenants", Text: query, Args: []any{tenants}, Row: func(scan func(...any) error) error {
		var shard int64
		err := scan(&shard)
		place, known := places[shard]
		if !known {
			place = len(groups)
			places[shard], groups = place, append(groups, nil)
		}
		groups[place] = append(groups[place], i)
		i++
		return err
	}})
	return groups, err
}

// AndTenants returns a condition that the column is one of the tenants of items, starting with AND.
// Citus needs it to find the shards of a statement that joins a list of rows. On a single server,
// the list suffices and the condition is empty.
func AndTenants[T any](db *sqldb.DB, column string, args []any, items []T, tenant func(T) uuid.UUID) (condition string, all []any) {
	if !db.IsDistributed() {
		return "", args
	}
	var tenants []uuid.UUID
	for _, item := range items {
		if id := tenant(item); !slices.Contains(tenants, id) {
			tenants = append(tenants, id)
		}
	}
	args = append(args, tenants)
	return " AND " + column + " = ANY($" + strconv.Itoa(len(args)) + "::uuid[])", args
}

// RowLock returns clause, which locks rows of a reference table, or "" if advisory locks replace
// it.
func RowLock(db *sqldb.DB, clause string) string {
	if db.IsDistributed() {
		return ""
	}
	return clause
}

// catalogKey is the key of the advisory lock of the catalog and the meters.
const catalogKey = 7_470_256_014_611_340

// ShareCatalog returns queries that block deletions in the catalog and changes of meters until the
// transaction ends. On a single server it returns no queries, because row locks do this.
func ShareCatalog(db *sqldb.DB) []sqldb.Query {
	return advisoryLocks(db, "pg_advisory_xact_lock_shared", catalogKey)
}

// LockCatalog waits for transactions with ShareCatalog and blocks further ones until the
// transaction ends.
func LockCatalog(ctx context.Context, db *sqldb.DB) error {
	return db.QueryAll(ctx, advisoryLocks(db, "pg_advisory_xact_lock", catalogKey)...)
}

// LockTenants returns queries that lock tenants, and share the catalog, until the transaction ends.
// On a single server it returns no queries, because row locks do this.
func LockTenants(db *sqldb.DB, tenants ...uuid.UUID) []sqldb.Query {
	keys := make([]int64, len(tenants))
	for i, id := range tenants {
		keys[i] = int64(binary.BigEndian.Uint64(id[8:])) // the random part
	}
	slices.Sort(keys)
	return append(ShareCatalog(db), advisoryLocks(db, "pg_advisory_xact_lock", keys...)...)
}

func advisoryLocks(db *sqldb.DB, function string, keys ...int64) []sqldb.Query {
	if !db.IsDistributed() {
		return nil
	}
	queries := make([]sqldb.Query, len(keys))
	for i, key := range keys {
		queries[i] = sqldb.Query{
			Doing: "lock", Text: "SELECT 1 FROM " + function + "($1)", Args: []any{key},
			Row: func(func(...any) error) error { return nil },
		}
	}
	return queries
}
