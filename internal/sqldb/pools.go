package sqldb

import (
	"database/sql"
	"time"
)

// Pool describes the load on a connection pool.
type Pool struct {
	Name   string // "write" and "read" on SQLite, "all" on PostgreSQL
	Max    int    // limit on open connections
	Open   int
	InUse  int
	Waits  int64         // callers that waited for a connection since the start
	Waited time.Duration // total time of those waits
}

// Pools returns the load on each connection pool, always in the same order.
func (db *DB) Pools() []Pool {
	if db.read != db.write {
		return []Pool{poolOf("write", db.write), poolOf("read", db.read)}
	}
	return []Pool{poolOf("all", db.write)}
}

func poolOf(name string, pool *sql.DB) Pool {
	s := pool.Stats()
	return Pool{Name: name, Max: s.MaxOpenConnections, Open: s.OpenConnections, InUse: s.InUse, Waits: s.WaitCount, Waited: s.WaitDuration}
}
