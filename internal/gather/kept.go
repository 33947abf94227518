package gather

import (
	"context"
	"runtime"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// KeptConfig says what a Kept finds, and what it may keep of that.
type KeptConfig[K comparable, V any] struct {
	DB   *sqldb.DB
	Find Find[K, V]
	// Most is how many batches run at once; 0 is no batches: each key is looked up by itself.
	Most int
	// Bytes is how much memory may be taken, and Size how much a value and its key take.
	Bytes int
	Size  func(key K, value V) int
	// Rows are the rows that a value depends on, of tables with keys (see
	// sqldb.Notes.Stamp). It depends on all rows of the other tables that Find reads; nil
	// is all of every table.
	Rows func(key K, value V) []sqldb.Key
	// Current reports whether a value is that of the present time; nil is always.
	Current func(value V) bool
}

// Kept is a Gather that keeps what it has found for as long as finding it again would
// have the same result (see sqldb.Notes). On a database that does not keep it is a Gather.
type Kept[K comparable, V any] struct {
	KeptConfig[K, V]
	gather *Gather[K, kept[V]] // nil without batches
	shelf  *Shelf[K, kept[V]]
}

type kept[V any] struct {
	value V
	stamp sqldb.Stamp
}

// WorthSharing returns how many batches to run at once (see Most) for queries that only save
// something together where they take a round trip: on PostgreSQL as many as there are
// cores, on SQLite none.
func WorthSharing(db *sqldb.DB) int {
	if db.Dialect() == sqldb.SQLite {
		return 0
	}
	return runtime.GOMAXPROCS(0)
}

// Keep returns a Kept.
func Keep[K comparable, V any](c KeptConfig[K, V]) *Kept[K, V] {
	k := &Kept[K, V]{KeptConfig: c, shelf: NewShelf(c.Bytes, func(key K, one kept[V]) int {
		return one.stamp.Size() + c.Size(key, one.value)
	})}
	if c.Most > 0 {
		k.gather = New(k.find, c.Most)
	}
	return k
}

// Get is as of Gather, and may be called inside a transaction, where it looks up what
// the transaction sees. Callers share the value and must not change it.
func (k *Kept[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	if sqldb.InTx(ctx) {
		values, err := k.Find(ctx, []K{key})
		value, found = values[key]
		return value, found, err
	}
	if k.DB.Keeps() {
		if hit, ok := k.hit(key); ok {
			k.check(ctx, key, hit)
			k.DB.Uses(ctx, hit.stamp)
			return hit.value, true, nil
		}
	}
	var one kept[V]
	if k.gather != nil {
		one, found, err = k.gather.Get(ctx, key)
	} else {
		var all map[K]kept[V]
		all, err = k.find(ctx, []K{key})
		one, found = all[key]
	}
	k.DB.Uses(ctx, one.stamp)
	return one.value, found, err
}

// find looks values up and keeps them.
func (k *Kept[K, V]) find(ctx context.Context, keys []K) (map[K]kept[V], error) {
	ctx, notes := k.DB.Note(ctx)
	values, err := k.Find(ctx, keys)
	found := make(map[K]kept[V], len(values))
	for key, value := range values {
		one := kept[V]{value: value}
		if k.DB.Keeps() && err == nil {
			var rows []sqldb.Key
			if k.Rows != nil {
				rows = k.Rows(key, value)
			}
			one.stamp = notes.Stamp(rows...)
			k.shelf.Put(key, one)
		}
		found[key] = one
	}
	return found, err
}

func (k *Kept[K, V]) hit(key K) (kept[V], bool) {
	return k.shelf.Get(key, k.holds)
}

func (k *Kept[K, V]) holds(one kept[V]) bool {
	return one.stamp.Holds() && (k.Current == nil || k.Current(one.value))
}
