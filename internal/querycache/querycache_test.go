package querycache_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const tables = "wrong_passwords"

// source loads the count of wrong passwords for an email hash and counts its loads.
type source struct {
	db    *sqldb.DB
	loads atomic.Int64
}

func (s *source) load(ctx context.Context, keys []string) (map[string]int64, error) {
	s.loads.Add(1)
	found := map[string]int64{}
	among, args := sqldb.InCondition(s.db, 1, "text", keys)
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "count", Text: `SELECT email_hash, count FROM wrong_passwords WHERE email_hash ` + among, Args: args,
		Row: func(scan func(...any) error) error {
			var key string
			var n int64
			err := scan(&key, &n)
			found[key] = n
			return err
		},
	})
}

func newCache(s *source) *querycache.Cache[string, int64] {
	return querycache.New(querycache.Config[string, int64]{DB: s.db, Tables: []string{tables}, Load: s.load})
}

func set(ctx context.Context, db *sqldb.DB, key string, n int) error {
	_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO wrong_passwords (email_hash, count, began_at, closed_until) VALUES ($1, $2, '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')
ON CONFLICT (email_hash) DO UPDATE SET count = excluded.count`, key, n)
	return err
}

func mustSet(t *testing.T, db *sqldb.DB, key string, n int) {
	t.Helper()
	if err := set(t.Context(), db, key, n); err != nil {
		t.Fatal(err)
	}
}

// Get returns the committed value, and in a transaction the value that the transaction sees. On
// SQLite an unchanged value is loaded once, on PostgreSQL each time.
func TestGet(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &source{db: db}
		cache := newCache(s)
		want := func(ctx context.Context, n int64, found bool) {
			t.Helper()
			if got, ok, err := cache.Get(ctx, "a"); got != n || ok != found || err != nil {
				t.Errorf("got %d, %t, %v; want %d, %t", got, ok, err, n, found)
			}
		}
		want(t.Context(), 0, false)
		mustSet(t, db, "a", 1)
		want(t.Context(), 1, true)
		s.loads.Store(0)
		for range 10 {
			want(t.Context(), 1, true)
		}
		if n, most := s.loads.Load(), map[sqldb.Dialect]int64{sqldb.SQLite: 0, sqldb.Postgres: 10}[db.Dialect()]; n != most && !querycache.ChecksHits() {
			t.Errorf("loaded %d times, want %d", n, most)
		}
		errUndo := errors.New("undo")
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if err := set(ctx, db, "a", 2); err != nil {
				return err
			}
			want(ctx, 2, true)
			want(t.Context(), 1, true)
			return errUndo
		})
		if !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
		want(t.Context(), 1, true)
		mustSet(t, db, "a", 3)
		want(t.Context(), 3, true)
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `DELETE FROM wrong_passwords`); err != nil {
			t.Fatal(err)
		}
		want(t.Context(), 0, false)
	})
}

// Only a change of the declared tables makes a cached value outdated.
func TestOtherTables(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	s := &source{db: db}
	cache := newCache(s)
	exec := func(text string) {
		t.Helper()
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE unrelated (id bigint)`)
	mustSet(t, db, "a", 1)
	for range 3 {
		exec(`INSERT INTO unrelated (id) VALUES (1)`)
		if _, _, err := cache.Get(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.loads.Load(); n != 1 && !querycache.ChecksHits() {
		t.Errorf("loaded %d times", n)
	}
}

// A value that is no longer valid is loaded again.
func TestValid(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	s := &source{db: db}
	valid := true
	cache := querycache.New(querycache.Config[string, int64]{
		DB: db, Tables: []string{tables}, Load: s.load, Valid: func(int64) bool { return valid },
	})
	mustSet(t, db, "a", 1)
	for _, valid = range []bool{true, false, false} {
		if n, found, err := cache.Get(t.Context(), "a"); n != 1 || !found || err != nil {
			t.Fatal(n, found, err)
		}
	}
	if n := s.loads.Load(); n != 3 && !querycache.ChecksHits() {
		t.Errorf("loaded %d times", n)
	}
}

// A commit by another connection, which stands for another process, is noticed within two
// milliseconds.
func TestOtherProcesses(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	cache := newCache(&source{db: db})
	other, err := dbfile.Open("file:"+db.File()+"?_pragma=busy_timeout(5000)", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	mustSet(t, db, "a", 0)
	for i := 1; i <= 50; i++ {
		if _, err := other.ExecContext(t.Context(), `UPDATE wrong_passwords SET count = ?`, i); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // the time within which the commit must be noticed
		if n, _, err := cache.Get(t.Context(), "a"); n != int64(i) || err != nil {
			t.Fatalf("got %d, %v; want %d", n, err, i)
		}
		if i%2 == 0 {
			mustSet(t, db, "b", i) // a concurrent commit of this process
		}
	}
}

// A full cache drops entries and never exceeds its bound.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	s := &source{db: db}
	cache := newCache(s)
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		for i := range querycache.MaxEntries + 100 {
			if err := set(ctx, db, strconv.Itoa(i), i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range querycache.MaxEntries + 100 {
		if n, _, err := cache.Get(t.Context(), strconv.Itoa(i)); n != int64(i) || err != nil {
			t.Fatal(n, err)
		}
	}
	if n := cache.Len(); n != querycache.MaxEntries {
		t.Errorf("%d entries", n)
	}
}

// With one writer and many readers, no reader gets a value older than the last acknowledged commit
// before its call, or than a value that it has already read from the database.
func TestConcurrentReaders(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := &source{db: db}
		cache := newCache(s)
		mustSet(t, db, "a", 0)
		var acknowledged atomic.Int64
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
					least := acknowledged.Load()
					if i%2 == 0 {
						values, err := s.load(t.Context(), []string{"a"})
						if err != nil {
							t.Error(err)
							return
						}
						least = values["a"]
					}
					if got, _, err := cache.Get(t.Context(), "a"); err != nil || got < least {
						t.Errorf("got %d after %d (%v)", got, least, err)
						return
					}
				}
			})
		}
		for i := 1; i <= dbtest.Rounds(300, 3000); i++ {
			mustSet(t, db, "a", i)
			acknowledged.Store(int64(i))
			time.Sleep(50 * time.Microsecond) // time for readers to cache the value
		}
		close(done)
		readers.Wait()
	})
}

// On PostgreSQL, calls that arrive during a load share the next load, and each call gets its own
// value. The load does not wait for a caller that has stopped waiting.
func TestConcurrentCallsShareALoad(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	entered, resume := make(chan []string), make(chan struct{})
	cache := querycache.New(querycache.Config[string, string]{
		DB: db,
		Load: func(_ context.Context, keys []string) (map[string]string, error) {
			entered <- keys
			<-resume
			values := map[string]string{}
			for _, key := range keys {
				if key == "panic" {
					panic("lost")
				}
				if key != "missing" {
					values[key] = key
				}
			}
			return values, nil
		},
	})
	var calls sync.WaitGroup
	get := func(key string, wantFound, wantErr bool) {
		calls.Go(func() {
			value, found, err := cache.Get(t.Context(), key)
			if found != wantFound || (err != nil) != wantErr || found && value != key {
				t.Errorf("%s: %q, %t, %v", key, value, found, err)
			}
		})
	}
	wait := func(n int) {
		testkit.Eventually(t, "waiting loads", func() bool { return cache.Waiting() >= n })
	}
	running := querycache.MaxRunning()
	for i := range running { // occupy all concurrent loads
		get("busy "+strconv.Itoa(i), true, false)
		<-entered
	}
	for i := range 40 {
		get(strconv.Itoa(i%20), true, false)
	}
	get("missing", false, false)
	wait(41)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := cache.Get(gone, "1"); !errors.Is(err, context.Canceled) {
		t.Errorf("gone: %v", err)
	}
	resume <- struct{}{}
	if keys := <-entered; len(keys) != 42 || !slices.Contains(keys, "missing") {
		t.Errorf("loaded %v together", keys)
	}
	get("panic", false, true)
	wait(1)
	for range running {
		resume <- struct{}{}
	}
	<-entered
	resume <- struct{}{}
	calls.Wait()
}

// A commit by another process is noticed even while a transaction of this process waits for the
// other process's lock.
func TestLockHeldByAnotherProcess(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	cache := newCache(&source{db: db})
	other, err := dbfile.Open("file:"+db.File()+"?_pragma=busy_timeout(5000)&_txlock=immediate", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	mustSet(t, db, "a", 0)
	for i := 1; i <= 10; i++ {
		tx, err := other.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), `UPDATE wrong_passwords SET count = ?`, i); err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error)
		go func() { waiting <- set(t.Context(), db, "b", i) }()
		time.Sleep(30 * time.Millisecond) // the transaction polls the lock with increasing pauses
		if n, _, err := cache.Get(t.Context(), "a"); n != int64(i-1) || err != nil {
			t.Errorf("got %d, %v before the commit of %d", n, err, i)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // the time within which the commit must be noticed
		if n, _, err := cache.Get(t.Context(), "a"); n != int64(i) || err != nil {
			t.Errorf("got %d, %v; want %d", n, err, i)
		}
		if err := <-waiting; err != nil {
			t.Fatal(err)
		}
	}
}
