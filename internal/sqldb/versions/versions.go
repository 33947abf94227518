// Package versions tells whether what was read from a SQLite database is still what
// the database would answer, so that it can be used again.
//
// Nobody says by hand what a change affects. SQLite's authorizer tells which tables a
// query reads, and its pre-update hook which rows a transaction changes, through
// triggers and foreign keys too. Each table has a number that grows when a change of it
// is committed; tables that change all the time have such numbers by a key of their
// rows. A Stamp has the numbers of what a value was read from, and holds while they are
// the same.
//
// Invariant: nobody who has seen a change, or was told of it, is given what was read
// before it. A commit changes the index of the write-ahead log in the moment in which
// others can see it, and each look compares the index with the one that all numbers are
// known for. Where they differ nothing holds: for a commit of this process until its
// numbers are settled, which is before its caller goes on; for one of another process
// until everything that was read before is given up.
package versions

import (
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
)

// stripes is how many numbers a table with a key has. Each key has two of them, which may be those
// of other keys too. What was read of a key is lost where others have changed both: where 64 others
// change all the time that is one key in 16,000, and where 1,000 do one in 80. The memory is taken where
// it is used.
const stripes = 1 << 14

// yields is how often a look lets others go on while a commit is settled, before it says that
// nothing holds: reading again takes fifty times as long. A commit that also writes the log back
// is not waited for.
const yields = 8

// keys are the tables that change all the time, with the column by which their rows are
// told apart. A column that a table does not have makes no difference.
var keys = map[string]string{
	"api_keys":       "secret_hash",
	"credentials":    "token_hash",
	"subscriptions":  "tenant_id",
	"usage_counters": "tenant_id",
	"usage_streams":  "tenant_id",
}

// Key is the rows of a table that have a value in its key's column.
type Key struct{ Table, Value string }

// cell is the number of the last change of something.
type cell struct {
	changed atomic.Uint64
	// by is which member of the open transaction has changed it last, from 1 on; 0 is
	// none. The writing connection alone uses it.
	by uint64
}

type table struct {
	name   string
	cell   cell
	byKey  []cell // nil for a table without a key
	column string
}

var seed = maphash.MakeSeed()

// pair has the numbers of a key. A change of its rows changes both, so one that has not changed
// tells that nothing has.
type pair [2]*cell

func (p pair) changedAfter(at uint64) bool {
	return p[0].changed.Load() > at && p[1].changed.Load() > at
}

func (t *table) of(value string) pair {
	sum := maphash.String(seed, value)
	return pair{&t.byKey[sum%stripes], &t.byKey[sum>>32%stripes]}
}

// Versions has the numbers of one database. It is safe for concurrent use.
type Versions struct {
	now atomic.Uint64 // the last number that was settled
	all cell          // changes of unknown extent: of the schema, or by another process
	// turn is held while this process commits, until the numbers are settled, and while a
	// change by another process is taken in.
	turn    sync.Mutex
	settled atomic.Pointer[state] // the index that the numbers are known for

	mu     sync.RWMutex
	tables map[string]*table

	index   *index
	scout   *scout
	refused atomic.Bool // there is no index to look at: nothing holds
	closing sync.Once
}

// table returns the table of a name, which may be new.
func (v *Versions) table(name string) *table {
	v.mu.RLock()
	t := v.tables[name]
	v.mu.RUnlock()
	if t != nil {
		return t
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if t = v.tables[name]; t == nil {
		t = &table{name: name, column: keys[name]}
		if t.column != "" {
			t.byKey = make([]cell, stripes)
		}
		v.tables[name] = t
	}
	return t
}

// quiet reports whether every change of the database so far is settled. A change by another
// process it settles itself: after that nothing holds that was read before.
func (v *Versions) quiet() bool {
	if v.refused.Load() {
		return false
	}
	for range yields {
		if known := v.settled.Load(); known != nil && v.index.state() == *known {
			return true
		}
		if v.turn.TryLock() {
			v.takeIn()
			return true
		}
		runtime.Gosched() // a commit of this process is not settled, and soon will be
	}
	return false
}

// takeIn takes in a change by another process, if there was one, and ends the turn.
func (v *Versions) takeIn() {
	defer v.turn.Unlock()
	present := v.index.state()
	if known := v.settled.Load(); known == nil || present != *known {
		v.lose(present)
	}
}

// lose lets nothing hold that was read before. turn is held.
func (v *Versions) lose(present state) {
	v.scout.forget()
	next := v.now.Load() + 1
	v.all.changed.Store(next)
	v.now.Store(next)
	v.settled.Store(&present)
}

// Stamp is when and from what something was read. The zero Stamp never holds.
type Stamp struct {
	of    *Versions
	at    uint64
	cells []*cell
	pairs []pair
}

// Holds reports whether reading the same now would have the same result. It must not be
// asked in a transaction, which may have changed what nobody else sees (see HoldsWithin).
func (s Stamp) Holds() bool {
	if s.of == nil || !s.of.quiet() || s.of.all.changed.Load() > s.at {
		return false
	}
	for _, c := range s.cells {
		if c.changed.Load() > s.at {
			return false
		}
	}
	for _, p := range s.pairs {
		if p.changedAfter(s.at) {
			return false
		}
	}
	return true
}

// HoldsWithin is Holds for whoever has the open write transaction: what it has changed
// itself does not hold.
func (s Stamp) HoldsWithin() bool {
	if !s.Holds() || s.of.all.by != 0 {
		return false
	}
	for _, c := range s.cells {
		if c.by != 0 {
			return false
		}
	}
	for _, p := range s.pairs {
		if p[0].by != 0 && p[1].by != 0 {
			return false
		}
	}
	return true
}

// Size is how much memory a stamp takes, in bytes.
func (s Stamp) Size() int { return 72 + 8*len(s.cells) + 16*len(s.pairs) }
