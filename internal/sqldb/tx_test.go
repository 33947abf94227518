package sqldb_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

var errOops = errors.New("oops")

func insert(ctx context.Context, db *sqldb.DB, name string) error {
	_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO probes (id, name) VALUES ((SELECT count(*) FROM probes), $1)`, name)
	return err
}

// names returns the stored names, as seen from outside any transaction.
func names(t *testing.T, db *sqldb.DB) []string {
	t.Helper()
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), `SELECT name FROM probes ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	list := []string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// txTest is a use of transactions and its expected effect.
type txTest struct {
	run  func(ctx context.Context, db *sqldb.DB, done func(string)) error
	err  error
	want []string // stored names
	done []string // the AfterCommit functions that ran
}

func (test txTest) check(t *testing.T) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		done := []string{}
		err := test.run(t.Context(), db, func(s string) { done = append(done, s) })
		if !errors.Is(err, test.err) {
			t.Errorf("error %v, want %v", err, test.err)
		}
		if got := names(t, db); !slices.Equal(got, test.want) {
			t.Errorf("stored %q, want %q", got, test.want)
		}
		if !slices.Equal(done, test.done) {
			t.Errorf("ran %q, want %q", done, test.done)
		}
		// No transaction is left open: the next writer can run.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := db.Tx(ctx, func(ctx context.Context) error { return insert(ctx, db, "next") }); err != nil {
			t.Errorf("the next transaction: %v", err)
		}
	})
}

func TestTxCommits(t *testing.T) {
	t.Parallel()
	txTest{
		run: func(ctx context.Context, db *sqldb.DB, done func(string)) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				db.AfterCommit(ctx, func() { done("first") })
				db.AfterCommit(ctx, func() { done("second") })
				return insert(ctx, db, "a")
			})
		},
		want: []string{"a"}, done: []string{"first", "second"},
	}.check(t)
}

func TestTxRollsBackOnAnError(t *testing.T) {
	t.Parallel()
	txTest{
		run: func(ctx context.Context, db *sqldb.DB, done func(string)) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				db.AfterCommit(ctx, func() { done("never") })
				return errors.Join(insert(ctx, db, "a"), errOops)
			})
		},
		err: errOops,
	}.check(t)
}

func TestNestedTxJoinsTheOuterOne(t *testing.T) {
	t.Parallel()
	txTest{
		run: func(ctx context.Context, db *sqldb.DB, done func(string)) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				err := db.Tx(ctx, func(ctx context.Context) error {
					db.AfterCommit(ctx, func() { done("inner") })
					return insert(ctx, db, "a")
				})
				done("outer goes on")
				return errors.Join(err, insert(ctx, db, "b"))
			})
		},
		want: []string{"a", "b"}, done: []string{"outer goes on", "inner"},
	}.check(t)
}

func TestOuterErrorUndoesTheNestedTx(t *testing.T) {
	t.Parallel()
	txTest{
		run: func(ctx context.Context, db *sqldb.DB, _ func(string)) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				if err := db.Tx(ctx, func(ctx context.Context) error { return insert(ctx, db, "a") }); err != nil {
					return err
				}
				return errOops
			})
		},
		err: errOops,
	}.check(t)
}

func TestNestedErrorCannotBeDropped(t *testing.T) {
	t.Parallel()
	txTest{
		run: func(ctx context.Context, db *sqldb.DB, _ func(string)) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				_ = db.Tx(ctx, func(ctx context.Context) error {
					return errors.Join(insert(ctx, db, "a"), errOops)
				})
				return nil
			})
		},
		err: errOops,
	}.check(t)
}

func TestAfterCommitWithoutTxRunsNow(t *testing.T) {
	t.Parallel()
	txTest{
		run: func(ctx context.Context, db *sqldb.DB, done func(string)) error {
			db.AfterCommit(ctx, func() { done("now") })
			return nil
		},
		done: []string{"now"},
	}.check(t)
}

func TestEndedContextRollsBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]txTest{
		"before the transaction": {
			run: func(ctx context.Context, db *sqldb.DB, _ func(string)) error {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				return db.Tx(ctx, func(ctx context.Context) error { return insert(ctx, db, "a") })
			},
			err: context.Canceled,
		},
		"inside the transaction": {
			run: func(ctx context.Context, db *sqldb.DB, _ func(string)) error {
				ctx, cancel := context.WithCancel(ctx)
				return db.Tx(ctx, func(ctx context.Context) error {
					err := insert(ctx, db, "a")
					cancel()
					return err
				})
			},
			err: context.Canceled,
		},
		"inside, long before the end": {
			run: func(ctx context.Context, db *sqldb.DB, _ func(string)) error {
				ctx, cancel := context.WithCancel(ctx)
				return db.Tx(ctx, func(ctx context.Context) error {
					err := insert(ctx, db, "a")
					cancel()
					time.Sleep(50 * time.Millisecond) // time for the driver to roll back before the function returns
					return err
				})
			},
			err: context.Canceled,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.check(t)
		})
	}
}

// A failed statement changes nothing, and the statements before it are rolled back.
func TestFailedStatementCannotBeDropped(t *testing.T) {
	t.Parallel()
	const threeNames = `INSERT INTO named (name) VALUES ('a'), (NULL), ('c')`
	for name, run := range map[string]func(ctx context.Context, conn sqldb.DBTX) error{
		"executed": func(ctx context.Context, conn sqldb.DBTX) error {
			_, err := conn.ExecContext(ctx, threeNames+` ON CONFLICT DO NOTHING`)
			return err
		},
		"asked for a row": func(ctx context.Context, conn sqldb.DBTX) error {
			var name string
			return conn.QueryRowContext(ctx, threeNames+` RETURNING name`).Scan(&name)
		},
		"asked for rows": func(ctx context.Context, conn sqldb.DBTX) error {
			rows, err := conn.QueryContext(ctx, threeNames+` RETURNING name`)
			if err != nil {
				return err
			}
			defer rows.Close()
			return rows.Err()
		},
		"reading": func(ctx context.Context, conn sqldb.DBTX) error {
			var name string
			return conn.QueryRowContext(ctx, `SELECT absent FROM named`).Scan(&name)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				newProbes(t, db)
				exec(t, db, `CREATE TABLE named (name text NOT NULL)`)
				err := db.Tx(t.Context(), func(ctx context.Context) error {
					if err := insert(ctx, db, "before"); err != nil {
						return err
					}
					if run(ctx, db.Conn(ctx)) == nil {
						t.Error("the statement did not fail")
					}
					return nil
				})
				if err == nil {
					t.Error("it committed")
				}
				if got := names(t, db); len(got) > 0 {
					t.Errorf("earlier statements are stored: %q", got)
				}
				n := -1
				if err := db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM named`).Scan(&n); err != nil || n != 0 {
					t.Errorf("%d rows of the failed statement are stored (%v)", n, err)
				}
			})
		})
	}
}

func TestTxRollsBackOnPanic(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = db.Tx(t.Context(), func(ctx context.Context) error {
				if err := insert(ctx, db, "a"); err != nil {
					t.Error(err)
				}
				panic("boom")
			})
		}()
		if got := names(t, db); len(got) != 0 {
			t.Errorf("stored %q", got)
		}
	})
}

func TestInTx(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		if sqldb.InTx(t.Context()) {
			t.Error("InTx is true outside a transaction")
		}
		_ = db.Tx(t.Context(), func(ctx context.Context) error {
			if !sqldb.InTx(ctx) {
				t.Error("InTx is false in a transaction")
			}
			return nil
		})
	})
}

// A query outside a transaction sees the last commit immediately, and does not wait for an open
// transaction.
func TestReadersDoNotWait(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if err := insert(ctx, db, "a"); err != nil {
				return err
			}
			if got := names(t, db); len(got) != 0 {
				t.Errorf("before the commit, other connections see %q", got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, db); len(got) != 1 {
			t.Errorf("after the commit, other connections see %q", got)
		}
	})
}

// No increment is lost if each transaction first reads the row under its lock.
func TestRowLockSerialises(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		exec(t, db, `INSERT INTO probes (id, small) VALUES (1, 0)`)
		var wait sync.WaitGroup
		for range 20 {
			wait.Go(func() {
				err := db.Tx(t.Context(), func(ctx context.Context) error {
					var n int
					if err := db.Conn(ctx).QueryRowContext(ctx, `SELECT small FROM probes WHERE id = 1 FOR UPDATE`).Scan(&n); err != nil {
						return err
					}
					_, err := db.Conn(ctx).ExecContext(ctx, `UPDATE probes SET small = $1 WHERE id = 1`, n+1)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		var n int
		scan(t, db, []any{&n}, `SELECT small FROM probes`)
		if n != 20 {
			t.Errorf("counted %d, want 20", n)
		}
	})
}

// Two transactions that lock two rows in opposite order both succeed: PostgreSQL aborts one and Tx
// runs it again. The AfterCommit functions of the aborted attempt do not run.
func TestDeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	newProbes(t, db)
	exec(t, db, `INSERT INTO probes (id, small) VALUES (1, 0), (2, 0)`)

	var wait, both sync.WaitGroup
	var mu sync.Mutex
	attempts, committed := 0, 0
	both.Add(2)
	for _, order := range [][]int{{1, 2}, {2, 1}} {
		wait.Go(func() {
			met := false
			err := db.Tx(t.Context(), func(ctx context.Context) error {
				mu.Lock()
				attempts++
				mu.Unlock()
				db.AfterCommit(ctx, func() {
					mu.Lock()
					defer mu.Unlock()
					committed++
				})
				for _, id := range order {
					if _, err := db.Conn(ctx).ExecContext(ctx, `UPDATE probes SET small = small + 1 WHERE id = $1`, id); err != nil {
						return err
					}
					if !met {
						met = true
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	var sum int
	scan(t, db, []any{&sum}, `SELECT sum(small) FROM probes`)
	// On a busy machine, the retry can end in another deadlock.
	if sum != 4 || committed != 2 || attempts < 3 {
		t.Errorf("sum %d, %d committed, %d attempts; want 4, 2 and at least 3", sum, committed, attempts)
	}
}

// A persistent conflict is returned after a few attempts.
func TestConflictIsTriedAFewTimes(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres)
	attempts := 0
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		attempts++
		_, err := db.Conn(ctx).ExecContext(ctx, `DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001''; END'`)
		return err
	})
	if err == nil || attempts != 5 {
		t.Errorf("%d attempts, error %v", attempts, err)
	}
}
