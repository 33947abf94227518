package sqldb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// together runs transactions that all wait for an open one, so that SQLite runs them as a group. It
// returns their errors.
func together(t *testing.T, db *sqldb.DB, run ...func(ctx context.Context) error) []error {
	t.Helper()
	errs := make([]error, len(run))
	entered, resume := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := db.Tx(t.Context(), func(context.Context) error { close(entered); <-resume; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-entered
	for i, f := range run {
		wg.Go(func() {
			defer func() {
				if reason := recover(); reason != nil {
					errs[i] = fmt.Errorf("panic: %v", reason)
				}
			}()
			errs[i] = f(t.Context())
		})
	}
	for db.Waiting() < len(run) {
		// Wait until all transactions are waiting.
	}
	close(resume)
	wg.Wait()
	return errs
}

// If several transactions share a commit, failed transactions leave nothing behind and the others
// are stored.
func TestGroupedQueriesFailSeparately(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	before := names(t, db)
	var run []func(context.Context) error
	for i := range 60 {
		run = append(run, func(ctx context.Context) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				if err := insert(ctx, db, "n"+strconv.Itoa(i)); err != nil {
					return err
				}
				switch i % 4 {
				case 1:
					return errOops
				case 2:
					panic("lost")
				case 3:
					_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO probes (id, name) SELECT id, name FROM probes`)
					return err
				}
				return nil
			})
		})
	}
	for i, err := range together(t, db, run...) {
		if (err == nil) != (i%4 == 0) || i%4 == 1 && !errors.Is(err, errOops) || i%4 == 3 && !sqldb.IsUnique(err) {
			t.Errorf("%d: %v", i, err)
		}
	}
	got := names(t, db)
	for i := range 60 {
		if slices.Contains(got, "n"+strconv.Itoa(i)) != (i%4 == 0) {
			t.Errorf("n%d: stored is %t", i, i%4 != 0)
		}
	}
	if len(got) != len(before)+15 {
		t.Errorf("%d names, want %d", len(got), len(before)+15)
	}
}

// If a caller stops waiting for its turn, no transaction stays open, in any order of callers.
func TestGroupedTransactionIsCanceled(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	for round := range dbtest.Rounds(50, 500) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				name := fmt.Sprintf("r%d-%d", round, i)
				err := db.Tx(ctx, func(ctx context.Context) error {
					if i == 0 {
						cancel() // while the others wait
					}
					return insert(ctx, db, name)
				})
				if stored := slices.Contains(names(t, db), name); stored != (err == nil) {
					t.Errorf("%s: stored: %t, error: %v", name, stored, err)
				}
			})
		}
		wg.Wait()
		cancel()
	}
}

// The observer is called for each commit with the number of transactions that shared it, and for
// each transaction that waited with its waiting time. A rolled back transaction is not a commit.
func TestCommitsAreObserved(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	var mu sync.Mutex
	var shared, waits int
	observed := db.ObserveCommits(
		func(time.Duration) { mu.Lock(); defer mu.Unlock(); waits++ },
		func(transactions int, _ time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			shared = max(shared, transactions)
		},
	)
	if !observed {
		t.Error("no statistics of SQLite")
	}
	nothing := func(ctx context.Context) error { return db.Tx(ctx, func(context.Context) error { return nil }) }
	if err := nothing(t.Context()); err != nil || waits != 0 || shared != 1 {
		t.Errorf("single transaction: %d waited, %d shared a commit (%v)", waits, shared, err)
	}
	together(t, db, nothing, nothing, nothing)
	if waits != 3 || shared != 4 {
		t.Errorf("together: %d waited, %d shared a commit", waits, shared)
	}
	shared = 0
	if err := db.Tx(t.Context(), func(context.Context) error { return errors.New("no") }); err == nil || shared != 0 {
		t.Errorf("rolled back: %d shared a commit (%v)", shared, err)
	}
	for _, dialect := range dbtest.Dialects(t) {
		if dialect == sqldb.Postgres && dbtest.New(t, dialect).ObserveCommits(nil, nil) {
			t.Error("ObserveCommits returned true on PostgreSQL")
		}
	}
}
