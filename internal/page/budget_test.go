package page_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// refusedFor returns the number of entries in the error for a page that is too large, or -1 if err
// is nil.
func refusedFor(t *testing.T, err error) any {
	t.Helper()
	if err == nil {
		return -1
	}
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || len(refused.Fields) != 1 || refused.Fields[0].Path != "per_page" || refused.Fields[0].Message != "validation.page_bytes" {
		t.Fatal(err)
	}
	return refused.Fields[0].Args["max"]
}

// A page is rejected if its texts are too large in total, and the error has the number of entries
// that fit. A single entry can always be read.
func TestPagesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	large := page.MaxBytes/3 + 1 // bytes per entry
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx := t.Context()
		if _, err := db.Conn(ctx).ExecContext(ctx, `CREATE TABLE large (id integer, a text, b text, c jsonb)`); err != nil {
			t.Fatal(err)
		}
		half := strings.Repeat("a", large/2)
		for id := range 5 {
			_, err := db.Conn(ctx).ExecContext(ctx, `INSERT INTO large VALUES ($1, $2, $3, $4)`, id, half, half, sqldb.JSON(`{"x":1}`))
			if err != nil {
				t.Fatal(err)
			}
		}
		scan := func(row page.Scanner) (id int, err error) {
			var (
				a string
				b *string
				c sqldb.JSON
			)
			return id, row.Scan(&id, &a, &b, &c)
		}
		spec := page.Spec{Sorts: map[string]string{"id": "id"}, DefaultSort: "id", Tiebreak: "id"}
		for query, want := range map[string]any{"per_page=1": -1, "per_page=2": -1, "per_page=3": int64(2), "": int64(2), "per_page=4&page=2": -1} {
			values, _ := url.ParseQuery(query)
			q, err := spec.Parse(values)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = page.Fetch(ctx, db.Conn(ctx), q, page.Select{Columns: "id, a, b, c", From: "large"}, scan)
			if diff := cmp.Diff(want, refusedFor(t, err)); diff != "" {
				t.Errorf("%q: %s", query, diff)
			}
		}
		among := func(ctx context.Context) error {
			ids := []uuid.UUID{uuid.Nil}
			return page.FetchByIDs(ctx, db.Conn(ctx), `SELECT a FROM large WHERE '00000000-0000-0000-0000-000000000000'::uuid IN`, ids,
				func(row page.Scanner) error { var a string; return row.Scan(&a) })
		}
		if err := among(ctx); err != nil {
			t.Errorf("without a page: %v", err)
		}
		if err := among(page.WithByteLimit(ctx, 1)); err != nil {
			t.Errorf("page with one entry: %v", err)
		}
		bounded := page.WithByteLimit(ctx, 10)
		if err := among(bounded); err != nil { // five halves of a third
			t.Errorf("the first query: %v", err)
		}
		if got := refusedFor(t, among(bounded)); got != int64(5) {
			t.Errorf("two queries for a page: %v", got)
		}
	})
}
