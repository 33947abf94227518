package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// How long a report waits for the replica to have what was committed before it.
const (
	replicaPause    = 2 * time.Millisecond
	replicaLooks    = 25
	replicaPatience = 500 * time.Millisecond // with a server that does not answer at all
)

// replica is a streaming standby of the PostgreSQL server that takes the writes.
//
// Invariant: a report reads from it only when it has replayed everything that was committed
// before the report began. So whoever was answered finds what the answer said.
type replica struct {
	pool    *sql.DB
	log     *slog.Logger
	watch   *watch
	unwatch func()
	// away is set while reports do without it, so that this is logged once.
	away atomic.Bool
}

type reportKey struct{}

// openReplica opens the pool of a replica, which may be away.
func openReplica(ctx context.Context, url string, c Config, log *slog.Logger) (*replica, error) {
	cfg, err := parsePostgres(url)
	if err != nil {
		return nil, fmt.Errorf("the replica: %w", err)
	}
	r := &replica{log: log}
	r.watch = newWatch(cfg, c.Patience, log.With("database", "replica"))
	r.watch.find(ctx)
	r.pool = openPool(cfg, r.watch, c.Conns)
	r.unwatch = r.watch.start()
	return r, nil
}

func (r *replica) close() error {
	r.unwatch()
	return r.pool.Close()
}

// Report returns a context for what only reads: outside transactions its queries run on the
// replica. They see at least what was committed, by anybody, before Report was called. Without
// a replica, and while it is away or behind, they run on the database itself.
func (db *DB) Report(ctx context.Context) context.Context {
	r := db.replica
	if r == nil || InTx(ctx) || r.watch.isAway() {
		return ctx
	}
	if err := db.CheckReplica(ctx); err != nil {
		if ctx.Err() == nil && !r.away.Swap(true) {
			r.log.WarnContext(ctx, "reports do without the replica", "error", err)
		}
		return ctx
	}
	if r.away.Swap(false) {
		r.log.InfoContext(ctx, "the replica is used again")
	}
	return context.WithValue(ctx, reportKey{}, db)
}

// errBehind is what a replica is that has not replayed what was committed, and what a server
// always is that is not a standby of the database's.
var errBehind = errors.New("sqldb: the replica is behind, or no standby of this database")

// CheckReplica waits for a moment until the replica has what is committed now. There has to
// be one.
func (db *DB) CheckReplica(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, replicaPatience)
	defer cancel()
	var position, server, database string
	const committed = `SELECT pg_current_wal_lsn()::text, system_identifier::text, current_database() FROM pg_control_system()`
	if err := db.write.QueryRowContext(ctx, committed).Scan(&position, &server, &database); err != nil {
		return Wrap(err, "read the position of the database's log")
	}
	const replayed = `SELECT coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn AND pg_is_in_recovery()
		AND system_identifier = $2::text::bigint AND current_database() = $3::text, false) FROM pg_control_system()`
	for range replicaLooks {
		var ready bool
		if err := db.replica.pool.QueryRowContext(ctx, replayed, position, server, database).Scan(&ready); err != nil {
			return Wrap(err, "read the position of the replica")
		}
		if ready {
			return nil
		}
		if err := pause(ctx, replicaPause); err != nil {
			return err
		}
	}
	return errBehind
}

// onReplica reports whether Report has sent the queries of ctx to the replica.
func (db *DB) onReplica(ctx context.Context) bool {
	return db.replica != nil && ctx.Value(reportKey{}) == db
}
