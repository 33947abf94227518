// Package gather batches look-ups: requests that need records at the same time share
// queries, which cost little more for many keys than for one, and round trips. What was
// found is kept where the database tells for how long it is true (see Kept).
package gather

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// The limits of one trip, in keys of each kind and in time.
const (
	maxGathered   = 256
	lookUpTimeout = 10 * time.Second
)

// Find returns the queries that look up keys, of which some may repeat, and what has the
// values of those that have one when the queries have run. All callers share the values and
// must not change them. The queries run without a transaction, or in that of ctx.
type Find[K comparable, V any] func(keys []K) (queries []sqldb.Query, read func(ctx context.Context) (map[K]V, error))

// Line takes look-ups of all kinds to the database. Those that come while its trips are under
// way share the next one, which begins after all of them: a value is never older than
// the call that asked for it. Nothing is cached.
type Line struct {
	db   *sqldb.DB
	most int

	mu      sync.Mutex
	running int
	waiting []kind // those with keys that wait, each once
}

// kind is a kind of look-ups.
type kind interface {
	// take returns keys that wait, and whether there are more. The line's lock is held.
	take() (taken batch, more bool)
}

// batch is a part of a trip: keys of one kind.
type batch interface {
	// queries returns what looks them up.
	queries() []sqldb.Query
	// answer tells those who asked. err is why the queries did not run.
	answer(ctx context.Context, notes *sqldb.Notes, err error)
}

// NewLine returns a line, with as many trips at once as there are cores.
func NewLine(db *sqldb.DB) *Line { return &Line{db: db, most: runtime.GOMAXPROCS(0)} }

// SharedLine returns a line for look-ups of all kinds where a round trip costs more than the
// queries, on PostgreSQL. On SQLite it returns nil.
func SharedLine(db *sqldb.DB) *Line {
	if db.Dialect() == sqldb.SQLite {
		return nil
	}
	return NewLine(db)
}

// start has somebody take those who wait. The lock is held.
func (l *Line) start(ctx context.Context) {
	if l.running < l.most {
		l.running++
		go l.work(context.WithoutCancel(ctx)) // others will wait for it too
	}
}

// work makes one trip, and has somebody make the next one before it tells what it found.
func (l *Line) work(ctx context.Context) {
	// Goroutines that are ready to run may be about to ask: without this most trips would be
	// for a single key when the cores are busy. When they are idle it takes no time.
	runtime.Gosched()
	l.mu.Lock()
	batches, rest := make([]batch, 0, len(l.waiting)), l.waiting[:0]
	for _, k := range l.waiting {
		taken, more := k.take()
		batches = append(batches, taken)
		if more {
			rest = append(rest, k)
		}
	}
	clear(l.waiting[len(rest):])
	if l.waiting = rest; len(batches) == 0 {
		l.running--
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	trip, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	trip, notes := l.db.Note(trip)
	err := guarded(func() error {
		var queries []sqldb.Query
		for _, b := range batches {
			queries = append(queries, b.queries()...)
		}
		return l.db.Each(trip, queries...)
	})
	l.mu.Lock()
	l.running--
	if len(l.waiting) > 0 {
		l.start(ctx)
	}
	l.mu.Unlock()
	for _, b := range batches {
		b.answer(trip, notes, err)
	}
}

// guarded turns a panic of f into an error: in these goroutines it would end the process
// instead of one request.
func guarded(f func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("gather: panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return f()
}

// asker is one who waits for the value of a key.
type asker[K comparable, V any] struct {
	key   K
	done  chan answer[V] // buffered, so that nobody blocks on it
	taken atomic.Bool    // of one who asked ahead: somebody waits for it
}

type answer[V any] struct {
	value V
	found bool
	err   error
}

// askers are those of a kind in a trip.
type askers[K comparable, V any] struct {
	of   *Kept[K, V]
	all  []*asker[K, kept[V]]
	read func(ctx context.Context) (map[K]V, error)
}

// ask has a key looked up in the next trip, without starting it.
func (k *Kept[K, V]) ask(one *asker[K, kept[V]]) {
	if len(k.waiting) == 0 {
		k.Line.waiting = append(k.Line.waiting, k)
	}
	k.waiting = append(k.waiting, one)
}

func (k *Kept[K, V]) take() (taken batch, more bool) {
	n := min(len(k.waiting), maxGathered)
	b := &askers[K, V]{of: k, all: k.waiting[:n:n]}
	k.waiting = k.waiting[n:]
	return b, len(k.waiting) > 0
}

func (b *askers[K, V]) queries() (queries []sqldb.Query) {
	keys := make([]K, len(b.all))
	for i, one := range b.all {
		keys[i] = one.key
	}
	queries, b.read = b.of.Find(keys)
	return queries
}

func (b *askers[K, V]) answer(ctx context.Context, notes *sqldb.Notes, err error) {
	var found map[K]kept[V]
	if err == nil {
		err = guarded(func() error {
			values, err := b.read(ctx)
			if err == nil {
				found = b.of.keep(values, notes)
			}
			return err
		})
	}
	for _, one := range b.all {
		value, there := found[one.key]
		one.done <- answer[kept[V]]{value, there, err}
	}
}
