package page_test

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// numbers is a list of the numbers 1 to 5, which needs no table.
var numbers = page.Select{
	Columns: "n",
	From:    "(SELECT 1 AS n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5) AS numbers",
	Where:   "n < $1::int",
	Args:    []any{5},
}

func scanInt(row page.Scanner) (n int, err error) { return n, row.Scan(&n) }

func TestFetch(t *testing.T) {
	t.Parallel()
	spec := page.Spec{Sorts: map[string]string{"n": "n", "odd": "n % 2"}, DefaultSort: "n", Tiebreak: "n"}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for query, want := range map[string][]int{
			"":                              {1, 2, 3, 4},
			"per_page=3":                    {1, 2, 3},
			"per_page=3&page=2":             {4},
			"per_page=3&page=3":             nil,
			"page=9223372036854775807":      nil,
			"sort=-n&per_page=2":            {4, 3},
			"sort=odd":                      {2, 4, 1, 3},
			"sort=-odd":                     {3, 1, 4, 2},
			"sort=-odd,n&per_page=2&page=2": {2, 4},
		} {
			values, err := url.ParseQuery(query)
			if err != nil {
				t.Fatal(err)
			}
			q, err := spec.Parse(values)
			if err != nil {
				t.Fatal(err)
			}
			got, total, err := page.Fetch(t.Context(), db.Conn(t.Context()), q, numbers, scanInt)
			if err != nil || total != 4 {
				t.Errorf("%q: total = %d, %v; want 4", query, total, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q: %s", query, diff)
			}
		}
	})
}

func TestFetchFails(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	q, err := page.Spec{Tiebreak: "n"}.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := page.Fetch(canceled, db.Conn(canceled), q, numbers, scanInt); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	broken := errors.New("broken row")
	_, _, err = page.Fetch(t.Context(), db.Conn(t.Context()), q, numbers, func(page.Scanner) (int, error) { return 0, broken })
	if !errors.Is(err, broken) {
		t.Errorf("scan: %v", err)
	}
}
