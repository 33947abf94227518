//go:build !checkkept

// Under the tag each look-up is made twice, which these tests count.

package gather_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/gather"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// counted finds how often an email was guessed, and counts how often it is asked.
func counted(db *sqldb.DB, asked *atomic.Int64) gather.Find[string, int64] {
	return func(keys []string) ([]sqldb.Query, func(context.Context) (map[string]int64, error)) {
		asked.Add(1)
		found := map[string]int64{}
		among, args := sqldb.Among(db, 1, "text", keys)
		query := sqldb.Query{
			Doing: "count", Text: `SELECT email_hash, count FROM wrong_passwords WHERE email_hash ` + among, Args: args,
			Row: func(scan func(...any) error) error {
				var key string
				var n int64
				err := scan(&key, &n)
				found[key] = n
				return err
			},
		}
		return []sqldb.Query{query}, func(context.Context) (map[string]int64, error) { return found, nil }
	}
}

// seen is what find finds for a key.
func seen(t *testing.T, db *sqldb.DB, find gather.Find[string, int64], key string) int64 {
	t.Helper()
	queries, read := find([]string{key})
	if err := db.Each(t.Context(), queries...); err != nil {
		t.Error(err)
	}
	values, err := read(t.Context())
	if err != nil {
		t.Error(err)
	}
	return values[key]
}

func set(t *testing.T, db *sqldb.DB, ctx context.Context, key string, n int) { //nolint:revive // as of the transaction
	t.Helper()
	if _, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO wrong_passwords (email_hash, count, began_at, closed_until) VALUES ($1, $2, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')
ON CONFLICT (email_hash) DO UPDATE SET count = excluded.count`, key, n); err != nil {
		t.Fatal(err)
	}
}

// On both databases Get finds what is there, also after a change, and what a transaction
// has changed inside of it alone. SQLite is asked once for as long as nothing changes,
// PostgreSQL each time.
func TestKept(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var asked atomic.Int64
		current := true
		kept := gather.Keep(gather.KeptConfig[string, int64]{
			DB: db, Find: counted(db, &asked), Line: gather.NewLine(db), Bytes: 1 << 20,
			Size:    func(key string, _ int64) int { return len(key) + 8 },
			Current: func(int64) bool { return current },
		})
		want := func(ctx context.Context, n int64, there bool) {
			t.Helper()
			got, found, err := kept.Get(ctx, "a")
			if err != nil || found != there || got != n {
				t.Errorf("%d, %t, %v; want %d, %t", got, found, err, n, there)
			}
		}
		want(t.Context(), 0, false)
		set(t, db, t.Context(), "a", 1)
		asked.Store(0)
		for range 10 {
			want(t.Context(), 1, true)
		}
		once := map[sqldb.Dialect]int64{sqldb.SQLite: 1, sqldb.Postgres: 10}[db.Dialect()]
		if n := asked.Load(); n != once {
			t.Errorf("asked %d times, want %d", n, once)
		}
		current = false // such as by the time
		want(t.Context(), 1, true)
		if n := asked.Load(); n != once+1 {
			t.Errorf("asked %d times with a value of another time", n)
		}
		current = true
		errOops := errors.New("oops")
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			set(t, db, ctx, "a", 2)
			want(ctx, 2, true)
			want(t.Context(), 1, true) // for others
			return errOops
		})
		if !errors.Is(err, errOops) {
			t.Fatal(err)
		}
		want(t.Context(), 1, true)
		set(t, db, t.Context(), "a", 3)
		want(t.Context(), 3, true)
	})
}

// What was made of other kept values, found anew or known before, holds no longer than they do.
func TestKeptOfKept(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		size := func(string, int64) int { return 8 }
		var asked, made atomic.Int64
		parts := gather.Keep(gather.KeptConfig[string, int64]{DB: db, Find: counted(db, &asked), Bytes: 1 << 20, Size: size})
		sums := gather.Keep(gather.KeptConfig[string, int64]{
			DB: db, Bytes: 1 << 20, Size: size,
			Find: func(keys []string) ([]sqldb.Query, func(context.Context) (map[string]int64, error)) {
				made.Add(1)
				return nil, func(ctx context.Context) (map[string]int64, error) {
					sums := map[string]int64{}
					for _, key := range keys {
						for _, part := range []string{"a", "b"} {
							n, _, err := parts.Get(ctx, part)
							if err != nil {
								return nil, err
							}
							sums[key] += n
						}
					}
					return sums, nil
				}
			},
		})
		set(t, db, t.Context(), "a", 1)
		for b := range int64(4) {
			set(t, db, t.Context(), "b", int(b))
			if b%2 == 1 { // both parts are known when the sum is made
				for _, part := range []string{"a", "b"} {
					if _, _, err := parts.Get(t.Context(), part); err != nil {
						t.Fatal(err)
					}
				}
			}
			made.Store(0)
			for range 3 {
				if got, _, err := sums.Get(t.Context(), "all"); got != 1+b || err != nil {
					t.Errorf("%d (%v), want %d", got, err, 1+b)
				}
			}
			once := map[sqldb.Dialect]int64{sqldb.SQLite: 1, sqldb.Postgres: 3}[db.Dialect()]
			if n := made.Load(); n != once {
				t.Errorf("made %d times, want %d", n, once)
			}
		}
	})
}

// What is kept stays within its bound, and what is used again stays longer.
func TestKeptIsBounded(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	var asked atomic.Int64
	kept := gather.Keep(gather.KeptConfig[string, int64]{
		DB: db, Find: counted(db, &asked), Line: gather.NewLine(db), Bytes: 20 * 1024,
		Size: func(string, int64) int { return 1024 - 64 - 56 },
	})
	const all = 40
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		for i := range all {
			set(t, db, ctx, strconv.Itoa(i), i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		for _, key := range []string{"0", strconv.Itoa(i)} {
			if _, found, err := kept.Get(t.Context(), key); !found || err != nil {
				t.Fatal(found, err)
			}
		}
	}
	if n := asked.Load(); n != all {
		t.Errorf("asked %d times, want %d: what is used is dropped", n, all)
	}
	asked.Store(0)
	for i := range all {
		if _, _, err := kept.Get(t.Context(), strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n < all-20 {
		t.Errorf("asked %d times of %d: more is kept than was allowed", n, all)
	}
}

// Many read what one writes: nobody who was told of a value, or has seen it in the
// database, finds an older one.
func TestKeptAmongReaders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var asked, told atomic.Int64
		find := counted(db, &asked)
		kept := gather.Keep(gather.KeptConfig[string, int64]{
			DB: db, Find: find, Line: gather.NewLine(db), Bytes: 1 << 20, Size: func(string, int64) int { return 8 },
		})
		set(t, db, t.Context(), "a", 0)
		done := make(chan struct{})
		var readers sync.WaitGroup
		for i := range 6 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					least := told.Load()
					if i%2 == 0 {
						least = seen(t, db, find, "a")
					}
					if got, _, err := kept.Get(t.Context(), "a"); err != nil || got < least {
						t.Errorf("%d after %d (%v)", got, least, err)
						return
					}
				}
			})
		}
		for i := 1; i <= dbtest.Rounds(300, 3000); i++ {
			set(t, db, t.Context(), "a", i)
			told.Store(int64(i))
			time.Sleep(50 * time.Microsecond) // so that they keep what they found
		}
		close(done)
		readers.Wait()
	})
}
