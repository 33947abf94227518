package distribution

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Citus locks rows of several shards in no statement, and a row of a reference table with a lock on
// the whole table. Recording therefore uses a transaction per shard, and advisory locks replace the
// row locks of meters and tenants. Every instance connects to the coordinator, which has the locks.

// anyDistributed is a distributed table. All of them have the same shards.
const anyDistributed = "usage_streams"

// ByShard groups items by the shard of their tenants, in order. On a single server, they are one group.
// A group holds the positions of its items.
func ByShard[T any](ctx context.Context, db *sqldb.DB, items []T, tenant func(T) uuid.UUID) (groups [][]int, err error) {
	shards := map[uuid.UUID]int64{}
	for _, item := range items {
		shards[tenant(item)] = 0
	}
	if db.IsDistributed() && len(shards) > 1 {
		if err := readShards(ctx, db, shards); err != nil {
			return nil, err
		}
	}
	places := map[int64]int{}
	for i, item := range items {
		shard := shards[tenant(item)]
		place, known := places[shard]
		if !known {
			place = len(groups)
			places[shard], groups = place, append(groups, nil)
		}
		groups[place] = append(groups[place], i)
	}
	return groups, nil
}

func readShards(ctx context.Context, db *sqldb.DB, shards map[uuid.UUID]int64) error {
	tenants := make([]uuid.UUID, 0, len(shards))
	for id := range shards {
		tenants = append(tenants, id)
	}
	return db.QueryAll(ctx, sqldb.Query{
		Doing: "find shards of tenants",
		Text:  `SELECT id, get_shard_id_for_distribution_column('` + anyDistributed + `', id) FROM unnest($1::uuid[]) AS given (id)`,
		Args:  []any{tenants},
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var shard int64
			err := scan(&id, &shard)
			shards[id] = shard
			return err
		},
	})
}

// AndTenants returns a condition that a column is one of the tenants, which Citus needs to find the
// shard of a statement whose rows are given by a list. On a single server, the list suffices and the
// condition is empty.
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

// RowLock returns a locking clause of a reference table, or nothing if advisory locks replace it.
func RowLock(db *sqldb.DB, clause string) string {
	if db.IsDistributed() {
		return ""
	}
	return clause
}

// metersKey is the key of the advisory lock of all meters.
const metersKey = 7_470_256_014_611_339

// LockMeters returns the query that prevents changes of meters until the transaction ends, or with
// exclusive also recording. On a single server, the rows of the meters are locked instead.
func LockMeters(db *sqldb.DB, exclusive bool) []sqldb.Query {
	if exclusive {
		return advisoryLocks(db, "pg_advisory_xact_lock", metersKey)
	}
	return advisoryLocks(db, "pg_advisory_xact_lock_shared", metersKey)
}

// LockTenants returns the queries that lock tenants until the transaction ends. On a single server,
// their rows are locked instead.
func LockTenants(db *sqldb.DB, tenants ...uuid.UUID) []sqldb.Query {
	keys := make([]int64, len(tenants))
	for i, id := range tenants {
		keys[i] = int64(binary.BigEndian.Uint64(id[8:])) // the random part
	}
	slices.Sort(keys)
	return advisoryLocks(db, "pg_advisory_xact_lock", keys...)
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
