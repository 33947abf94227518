package sqldb

import (
	"database/sql"
	"time"
)

// Pool says how busy a pool of connections is.
type Pool struct {
	Name   string // "write" and "read", or "all" where one pool does both; "replica" for reports
	Max    int    // connections that there are at most
	Open   int
	InUse  int
	Waits  int64         // how often somebody had to wait, since the start
	Waited time.Duration // in all
}

// Pools returns how busy the connections are, always in the same order.
func (db *DB) Pools() []Pool {
	if db.read != db.write {
		return []Pool{poolOf("write", db.write), poolOf("read", db.read)}
	}
	pools := []Pool{poolOf("all", db.write)}
	if db.replica != nil {
		pools = append(pools, poolOf("replica", db.replica.pool))
	}
	return pools
}

func poolOf(name string, pool *sql.DB) Pool {
	s := pool.Stats()
	return Pool{Name: name, Max: s.MaxOpenConnections, Open: s.OpenConnections, InUse: s.InUse, Waits: s.WaitCount, Waited: s.WaitDuration}
}
