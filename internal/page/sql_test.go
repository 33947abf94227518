package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
)

var from = page.Select{Columns: "id, code", From: "things", Where: "tenant = $1 OR $1 IS NULL", Args: []any{"acme"}}

func TestStatements(t *testing.T) {
	t.Parallel()
	owner := uuid.MustParse("0197a1b2-0000-7000-8000-000000000001")
	for name, tt := range map[string]struct {
		query string
		where string // after the list's own condition
		args  []any
	}{
		"nothing":                    {"", "", nil},
		"empty filter":               {"filter[name]=+&filter[active]=", "", nil},
		"exact":                      {"filter[code]=a,B", " AND ((code) = $2)", []any{"a,B"}},
		"of several the last counts": {"filter[code]=a&filter[code]=b", " AND ((code) = $2)", []any{"b"}},
		"true":                       {"filter[active]=1", " AND ((active) = $2)", []any{true}},
		"false":                      {"filter[active]=false", " AND ((active) = $2)", []any{false}},
		"uuid":                       {"filter[owner]=0197A1B2-0000-7000-8000-000000000001", " AND ((owner) = $2)", []any{owner}},
		"enum":                       {"filter[type]=seat", " AND ((type) = $2)", []any{"seat"}},
		"after a datetime":           {"filter[after]=2026-01-31T10:00:00.5%2B02:00", " AND ((at) >= $2)", []any{time.Date(2026, 1, 31, 8, 0, 0, 5e8, time.UTC)}},
		"after a date":               {"filter[after]=2026-01-31", " AND ((at) >= $2)", []any{time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}},
		"before a date is its end":   {"filter[before]=9999-12-31", " AND ((at) <= $2)", []any{time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)}},
		"partial":                    {"filter[name]=A!1%25_%5C'", " AND (lower((name)) LIKE $2 ESCAPE '!')", []any{`%a!!1!%!_\'%`}},
		"partial in another script": {
			"filter[name]=%C3%89%C3%A9", " AND (lower(replace((name), $3, $2)) LIKE $4 ESCAPE '!')", []any{"é", "É", "%éé%"},
		},
		"several, by name": {"filter[type]=flat&filter[code]=x", " AND ((code) = $2) AND ((type) = $3)", []any{"x", "flat"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := mustParse(t, things, tt.query)
			const head = " FROM things WHERE (tenant = $1 OR $1 IS NULL)"
			count := q.Count(from)
			if diff := cmp.Diff("SELECT count(*)"+head+tt.where, count.Text); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(append([]any{"acme"}, tt.args...), count.Args); diff != "" {
				t.Error(diff)
			}
			list := q.List(from)
			if !strings.HasPrefix(list.Text, "SELECT id, code"+head+tt.where+" ORDER BY ") {
				t.Errorf("list = %s", list.Text)
			}
			if diff := cmp.Diff(append([]any{"acme"}, append(tt.args, int64(25), int64(0))...), list.Args); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"":                   "at DESC, id DESC",
		"sort=":              "at DESC, id DESC",
		"sort=at":            "at, id",
		"sort=-code":         "code DESC, id DESC",
		"sort=-code,at":      "code DESC, at, id",
		"sort=code&sort=-at": "code, at DESC, id DESC",
		"sort=code,-code":    "code, id DESC",
		"sort=code&page=3":   "code, id",
	} {
		text := mustParse(t, things, query).List(from).Text
		_, order, _ := strings.Cut(text, " ORDER BY ")
		order, _, _ = strings.Cut(order, " LIMIT ")
		if order != want {
			t.Errorf("%q orders by %s, want %s", query, order, want)
		}
	}
}

func TestOffset(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]any{
		"page=3&per_page=10":       {int64(10), int64(20)},
		"page=9223372036854775807": {int64(25), int64(1 << 40)},
	} {
		args := mustParse(t, things, query).List(page.Select{Columns: "id", From: "things"}).Args
		if diff := cmp.Diff(want, args); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}
