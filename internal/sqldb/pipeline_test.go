package sqldb_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const insertProbe = `INSERT INTO probes (id, name) VALUES ($1::bigint, $2::text)`

func addProbe(ctx context.Context, db *sqldb.DB, id int, name string) error {
	_, err := db.Conn(ctx).ExecContext(ctx, insertProbe, id, name)
	return err
}

func countProbes(t *testing.T, db *sqldb.DB) (n int) {
	t.Helper()
	scan(t, db, []any{&n}, `SELECT count(*) FROM probes`)
	return n
}

// A deferred statement is visible to the next statement and after the commit.
func TestLater(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if err := addProbe(sqldb.WithDeferred(ctx), db, 1, "a"); err != nil {
				return err
			}
			var n int
			if err := db.Conn(ctx).QueryRowContext(ctx, `SELECT count(*) FROM probes WHERE id > $1::bigint`, 0).Scan(&n); err != nil || n != 1 {
				t.Errorf("the next statement sees %d, %v", n, err)
			}
			return addProbe(sqldb.WithDeferred(ctx), db, 2, "b")
		})
		if n := countProbes(t, db); err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
		if err := addProbe(sqldb.WithDeferred(t.Context()), db, 3, "c"); err != nil || countProbes(t, db) != 3 {
			t.Errorf("outside a transaction: %v", err)
		}
	})
}

// If a deferred statement fails with the commit, the transaction is rolled back and the connection
// remains usable.
func TestLaterFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		exec(t, db, insertProbe, 1, "a")
		for range 20 {
			committed := false
			err := db.Tx(t.Context(), func(ctx context.Context) error {
				db.AfterCommit(ctx, func() { committed = true })
				if err := addProbe(ctx, db, 2, "b"); err != nil {
					return err
				}
				return addProbe(sqldb.WithDeferred(ctx), db, 1, "again")
			})
			if !sqldb.IsUnique(err) || committed || countProbes(t, db) != 1 {
				t.Fatalf("%v, committed: %t, %d rows", err, committed, countProbes(t, db))
			}
		}
	})
}

// Deferred statements of a failed transaction are never sent, and a transaction without statements
// takes no round trip.
func TestLaterIsForgotten(t *testing.T) {
	t.Parallel()
	errNo := errors.New("no")
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			return errors.Join(addProbe(sqldb.WithDeferred(ctx), db, 1, "a"), errNo)
		})
		if !errors.Is(err, errNo) {
			t.Error(err)
		}
		if err := db.Tx(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		if n := countProbes(t, db); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
}

// namesFrom returns a query that appends to found the names of the rows whose ID is at least from.
func namesFrom(found *[]string, from int) sqldb.Query {
	return sqldb.Query{
		Doing: "read names", Text: `SELECT name FROM probes WHERE id >= $1::bigint ORDER BY id`, Args: []any{from},
		Row: func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			*found = append(*found, name)
			return err
		},
	}
}

// QueryAll reads every result, inside and outside a transaction, and its error names the failed
// query.
func TestEachQuery(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		exec(t, db, insertProbe, 1, "a")
		exec(t, db, insertProbe, 2, "b")
		read := func(ctx context.Context) error {
			var all, none, last []string
			if err := db.QueryAll(ctx, namesFrom(&all, 1), namesFrom(&none, 9), namesFrom(&last, 2)); err != nil {
				return err
			}
			if len(all) != 2 || len(none) != 0 || len(last) != 1 || last[0] != "b" {
				t.Errorf("%v, %v, %v", all, none, last)
			}
			return nil
		}
		if err := errors.Join(read(t.Context()), db.Tx(t.Context(), read), db.QueryAll(t.Context())); err != nil {
			t.Error(err)
		}
		var all []string
		broken := sqldb.Query{Doing: "divide", Text: `SELECT 1 / (id - id) FROM nothing WHERE id = $1::bigint`, Args: []any{1}}
		if err := db.QueryAll(t.Context(), namesFrom(&all, 1), broken, namesFrom(&all, 1)); err == nil {
			t.Error("query of a missing table succeeded")
		}
		if err := read(t.Context()); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A query that is sent together with a locking query runs only once the lock is held, so concurrent
// increments of one row are not lost.
func TestEachReadsUnderItsLock(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		exec(t, db, `INSERT INTO probes (id, small) VALUES ($1::bigint, 0), ($2::bigint, 0)`, 1, 2)
		const n = 100
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				err := db.Tx(t.Context(), func(ctx context.Context) error {
					var locked, small int
					into := func(dest *int) func(func(...any) error) error {
						return func(scan func(...any) error) error { return scan(dest) }
					}
					err := db.QueryAll(ctx,
						sqldb.Query{Text: `SELECT id FROM probes WHERE id = $1::bigint FOR UPDATE`, Args: []any{1}, Row: into(&locked)},
						sqldb.Query{Text: `SELECT small FROM probes WHERE id = $1::bigint`, Args: []any{2}, Row: into(&small)})
					if err != nil {
						return err
					}
					_, err = db.Conn(ctx).ExecContext(sqldb.WithDeferred(ctx), `UPDATE probes SET small = $1::integer WHERE id = $2::bigint`, small+1, 2)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var got int
		scan(t, db, []any{&got}, `SELECT small FROM probes WHERE id = $1::bigint`, 2)
		if got != n {
			t.Errorf("%d, want %d", got, n)
		}
	})
}

// A query returns the same values alone and in a batch, and an ID can be passed to any compatible
// parameter type.
func TestSameValuesTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		id, at := uuid.New(), time.Date(2026, 1, 31, 11, 0, 0, 123456000, time.UTC)
		exec(t, db, `INSERT INTO probes (id, name, at, ok, doc, ref, small) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			1<<62, id.String(), at, true, sqldb.JSON(`{"a": 1}`), id, 7)
		exec(t, db, `INSERT INTO probes (id, ref) VALUES ($1, $2)`, 2, (*uuid.UUID)(nil))
		type values struct {
			row
			ref *uuid.UUID
		}
		query := func(found *[]values) sqldb.Query {
			return sqldb.Query{
				Text: `SELECT id, name, at, ok, doc, ref, small FROM probes WHERE ref = $1::uuid OR name = $2::text OR ref IS NULL ORDER BY id`,
				Args: []any{&id, id.String()},
				Row: func(scan func(...any) error) error {
					var v values
					err := scan(&v.ID, &v.Name, &v.At, &v.OK, &v.Doc, &v.ref, &v.Small)
					*found = append(*found, v)
					return err
				},
			}
		}
		var alone, first, second []values
		if err := errors.Join(db.QueryAll(t.Context(), query(&alone)), db.QueryAll(t.Context(), query(&first), query(&second))); err != nil {
			t.Fatal(err)
		}
		for _, found := range [][]values{alone, first, second} {
			if len(found) != 2 || found[0].ref != nil || found[0].Name != nil || found[0].At != nil {
				t.Fatalf("%+v", found)
			}
			v := found[1]
			if v.ID != 1<<62 || *v.Name != id.String() || !v.At.Equal(at) || v.At.Location() != time.UTC || !*v.OK ||
				string(v.Doc) != `{"a": 1}` || *v.ref != id || *v.Small != 7 {
				t.Errorf("%+v", v)
			}
		}
	})
}
