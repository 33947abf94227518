package gather

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// KeptConfig says what a Kept finds, and what it may keep of that.
type KeptConfig[K comparable, V any] struct {
	DB   *sqldb.DB
	Find Find[K, V]
	// Line is what look-ups share; without one each key is looked up by itself.
	Line *Line
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

// Kept looks values up, and keeps them for as long as finding them again would have the same
// result (see sqldb.Notes). A database that does not keep is asked each time.
type Kept[K comparable, V any] struct {
	KeptConfig[K, V]
	waiting []*asker[K, kept[V]] // of the line, under its lock
	shelf   *Shelf[K, kept[V]]
}

type kept[V any] struct {
	value V
	stamp sqldb.Stamp
}

// Keep returns a Kept.
func Keep[K comparable, V any](c KeptConfig[K, V]) *Kept[K, V] {
	return &Kept[K, V]{KeptConfig: c, shelf: NewShelf(c.Bytes, func(key K, one kept[V]) int {
		return one.stamp.Size() + c.Size(key, one.value)
	})}
}

// Get looks up a key. found reports whether it has a value. Inside a transaction it looks up
// what the transaction sees. Callers share the value and must not change it. A trip runs with
// the context values of whichever call started it.
func (k *Kept[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	if sqldb.InTx(ctx) {
		values, err := k.look(ctx, []K{key})
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
	if k.Line != nil {
		one, found, err = k.wait(ctx, key)
	} else {
		one, found, err = k.find(ctx, key)
	}
	k.DB.Uses(ctx, one.stamp)
	return one.value, found, err
}

// aheadKey is the key, in a context, of what was asked of a Kept ahead.
type aheadKey struct{ of any }

// Ahead has a key looked up in the trip of the next look-up on the line, such as that of a
// request's caller, for the Get of it with the context that is returned: the first one gets
// the value as of Ahead, or a later one. Some look-up has to follow. Where there is no line, or
// what was found before is kept, it does nothing.
func (k *Kept[K, V]) Ahead(ctx context.Context, key K) context.Context {
	if k.Line == nil || k.DB.Keeps() {
		return ctx
	}
	one := &asker[K, kept[V]]{key: key, done: make(chan answer[kept[V]], 1)}
	k.Line.mu.Lock()
	k.ask(one)
	k.Line.mu.Unlock()
	return context.WithValue(ctx, aheadKey{k}, one)
}

// wait waits for the value of a key that is looked up on the line.
func (k *Kept[K, V]) wait(ctx context.Context, key K) (one kept[V], found bool, err error) {
	asked, ahead := ctx.Value(aheadKey{k}).(*asker[K, kept[V]])
	ahead = ahead && asked.key == key && asked.taken.CompareAndSwap(false, true)
	k.Line.mu.Lock()
	if !ahead {
		asked = &asker[K, kept[V]]{key: key, done: make(chan answer[kept[V]], 1)}
		k.ask(asked)
	}
	if len(k.waiting) > 0 {
		k.Line.start(ctx)
	}
	k.Line.mu.Unlock()
	select {
	case a := <-asked.done:
		return a.value, a.found, a.err
	case <-ctx.Done():
		return one, false, ctx.Err()
	}
}

// look looks values up.
func (k *Kept[K, V]) look(ctx context.Context, keys []K) (map[K]V, error) {
	queries, read := k.Find(keys)
	if err := k.DB.Each(ctx, queries...); err != nil {
		return nil, err
	}
	return read(ctx)
}

// find looks a value up and keeps it.
func (k *Kept[K, V]) find(ctx context.Context, key K) (one kept[V], found bool, err error) {
	ctx, notes := k.DB.Note(ctx)
	values, err := k.look(ctx, []K{key})
	if err != nil {
		return one, false, err
	}
	one, found = k.keep(values, notes)[key]
	return one, found, nil
}

// keep keeps values that were found.
func (k *Kept[K, V]) keep(values map[K]V, notes *sqldb.Notes) map[K]kept[V] {
	found := make(map[K]kept[V], len(values))
	for key, value := range values {
		one := kept[V]{value: value}
		if k.DB.Keeps() {
			var rows []sqldb.Key
			if k.Rows != nil {
				rows = k.Rows(key, value)
			}
			one.stamp = notes.Stamp(rows...)
			k.shelf.Put(key, one)
		}
		found[key] = one
	}
	return found
}

func (k *Kept[K, V]) hit(key K) (kept[V], bool) { return k.shelf.Get(key, k.holds) }

func (k *Kept[K, V]) holds(one kept[V]) bool {
	return one.stamp.Holds() && (k.Current == nil || k.Current(one.value))
}
