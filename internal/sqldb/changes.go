package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// changes counts the commits to the tables of a SQLite database, so that a cache can check whether
// a value is still current (see Tables).
//
// Invariant: the counter of a table is odd from the first row that a transaction changes until that
// transaction has ended, and it never returns to an earlier value. A value that was read between
// two equal, even readings of the counter is therefore equal to the contents of the database at the
// second reading.
type changes struct {
	mu      sync.Mutex
	tables  map[string]*atomic.Uint64
	changed []*atomic.Uint64 // odd counters, changed by the open transaction

	// others counts detected commits by other processes.
	others  atomic.Uint64
	version int64 // of PRAGMA data_version, read on the writing connection
	checked atomic.Int64
	// locked is set while a transaction of this process holds SQLite's write lock, so that no
	// other process commits.
	locked atomic.Bool
	// checking is the start time of the reader that is checking for other processes, or 0.
	checking atomic.Int64
}

// OthersInterval is how often readers check for commits by other processes. Such a commit can go
// undetected for at most twice as long. The check takes about 6 µs, so at this rate it costs at
// most 3 % of a core.
const OthersInterval = 200 * time.Microsecond

func newChanges() *changes { return &changes{tables: map[string]*atomic.Uint64{}} }

// installHook registers the hook that SQLite calls for each row that the writing connection
// changes, directly or through triggers and foreign keys.
func (c *changes) installHook(conn driver.Conn) error {
	hooks, ok := conn.(sqlite.HookRegisterer)
	if !ok {
		return errors.New("sqldb: the SQLite driver lacks hooks")
	}
	hooks.RegisterPreUpdateHook(func(d sqlite.SQLitePreUpdateData) { c.begin(d.TableName) })
	c.others.Add(1) // A new connection cannot detect earlier commits.
	return nil
}

// begin marks a table as being changed. Tables that no cache depends on are ignored.
func (c *changes) begin(table string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.tables[table]; n != nil && n.Load()%2 == 0 {
		n.Add(1)
		c.changed = append(c.changed, n)
	}
}

// end marks the changed tables as stable again. It is called once the transaction has committed or
// rolled back, before any of its callers gets a result.
func (c *changes) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.changed {
		n.Add(1)
	}
	c.changed = c.changed[:0]
}

func (c *changes) counter(table string) *atomic.Uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables[table] == nil {
		c.tables[table] = new(atomic.Uint64)
	}
	return c.tables[table]
}

// Tables are the tables that a cached value depends on.
type Tables struct {
	db       *DB
	counters []*atomic.Uint64
}

// Tables returns the named tables. It returns nil on PostgreSQL, where this process does not detect
// commits by other instances, so nothing must be cached.
func (db *DB) Tables(names ...string) *Tables {
	if db.changes == nil {
		return nil
	}
	t := &Tables{db: db}
	for _, name := range names {
		t.counters = append(t.counters, db.changes.counter(name))
	}
	return t
}

// Generation identifies the committed contents of the tables: if two generations are equal, no row
// was changed in between. stable is false while a transaction is changing one of the tables. A
// commit by another process changes the generation within twice OthersInterval.
func (t *Tables) Generation() (generation uint64, stable bool) {
	if !t.db.groups.noticeOthers() {
		return 0, false
	}
	generation = t.db.changes.others.Load()
	for _, n := range t.counters {
		count := n.Load()
		if count%2 == 1 {
			return 0, false
		}
		generation += count
	}
	return generation, true
}

// FreshGeneration is like Generation, but always checks for commits by other processes. It waits for the
// transactions of this process, except inside a transaction, whose lock prevents other commits.
func (t *Tables) FreshGeneration(ctx context.Context) (generation uint64, stable bool) {
	if !InTx(ctx) {
		t.db.groups.checkOthers()
	}
	return t.Generation()
}

// noticeOthers checks for commits by other processes if the last check is older than
// OthersInterval. It returns false if it cannot check, because a transaction is about to begin and
// may be waiting for another process.
func (g *groupCommitter) noticeOthers() bool {
	now := g.clock.Now().UnixNano()
	if now-g.changes.checked.Load() < int64(OthersInterval) {
		return true
	}
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	default:
		// A transaction of this process that holds the lock has already checked. Another reader may
		// be checking now; on a busy machine that can take long.
		return g.changes.locked.Load() || now-g.changes.checking.Load() < int64(OthersInterval)
	}
	g.changes.checking.Store(now)
	defer g.changes.checking.Store(0)
	return g.readOthers()
}

// checkOthers checks for commits by other processes, even if the last check is recent.
func (g *groupCommitter) checkOthers() {
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	_ = g.readOthers()
}

// readOthers checks the data version outside of a transaction. The caller has the turn.
func (g *groupCommitter) readOthers() bool {
	if g.open != nil {
		return true
	}
	conn, err := g.pool.Conn(context.Background())
	if err != nil {
		return false
	}
	g.readDataVersion(conn)
	_ = conn.Close()
	return true
}

// readDataVersion compares the data version, which SQLite changes when another connection commits.
// The caller has the turn.
func (g *groupCommitter) readDataVersion(conn *sql.Conn) {
	c, now := g.changes, g.clock.Now().UnixNano()
	var version int64
	if err := conn.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&version); err != nil {
		c.others.Add(1) // Unknown, so treat all cached values as stale.
		return
	}
	if version != c.version {
		c.version = version
		c.others.Add(1)
	}
	c.checked.Store(now)
}
