package page_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
)

// plainly is a list with plain filter names and a numeric filter.
var plainly = page.Spec{
	Params:   map[string]page.Filter{"search": {Kind: page.ExactMatch, Exprs: []string{"name", "slug"}}, "active": {Kind: page.Bool, Exprs: []string{"active"}}},
	Filters:  map[string]page.Filter{"user": {Kind: page.Integer, Exprs: []string{"user_id"}}},
	Tiebreak: "id",
}

func TestParams(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]page.Statement{
		"":                          {Text: "", Args: nil},
		"search=+":                  {Text: "", Args: nil},
		"search=+a+":                {Text: " WHERE ((name) = $1 OR (slug) = $1)", Args: []any{"a"}},
		"search=a&search=b":         {Text: " WHERE ((name) = $1 OR (slug) = $1)", Args: []any{"b"}},
		"search=a&active=0":         {Text: " WHERE ((active) = $1) AND ((name) = $2 OR (slug) = $2)", Args: []any{false, "a"}},
		"filter[user]=-7&search=x":  {Text: " WHERE ((user_id) = $1) AND ((name) = $2 OR (slug) = $2)", Args: []any{int64(-7), "x"}},
		"Search=a&user=5&unknown=b": {Text: "", Args: nil},
	} {
		got := mustParse(t, plainly, query).Count(page.Select{From: "things"})
		want.Text = "SELECT count(*) FROM things" + want.Text
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got)\n%s", query, diff)
		}
	}
	for query, want := range map[string]fault.Field{
		"active=x":           {Path: "active", Message: "validation.boolean"},
		"search=%00":         {Path: "search", Message: "validation.characters"},
		"filter[user]=1.0":   {Path: "filter.user", Message: "validation.integer"},
		"filter[user]=a":     {Path: "filter.user", Message: "validation.integer"},
		"filter[user]=%2B-1": {Path: "filter.user", Message: "validation.integer"},
	} {
		_, err := parse(t, plainly, query)
		var refusal *fault.Error
		if !errors.As(err, &refusal) || !cmp.Equal(refusal.Fields, []fault.Field{want}) {
			t.Errorf("%q: %v, want %+v", query, err, want)
		}
	}
	// A plain name is not accepted as a filter, and vice versa.
	if _, err := parse(t, plainly, "filter[search]=a"); err == nil {
		t.Error("filter[search] is accepted")
	}
}

// The windows of all pages together are the whole list, each entry once and in order, and the links
// connect the pages.
func TestPagesCoverTheList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		total, perPage := rapid.IntRange(0, 250).Draw(r, "total"), rapid.IntRange(1, page.MaxPerPage).Draw(r, "per_page")
		next, seen := 1, 0
		for number := 1; next == number; number++ {
			q, err := plainly.Parse(map[string][]string{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(number)}})
			if err != nil {
				r.Fatal(err)
			}
			from, to := q.Window(total)
			p := page.New(q, address, make([]int, to-from), int64(total))
			if from != seen || to < from || to-from > perPage || (p.Links.Prev == nil) != (number == 1) || p.Meta.CurrentPage != int64(number) {
				r.Fatalf("page %d is %d to %d after %d: %+v", number, from, to, seen, p)
			}
			seen = to
			if p.Links.Next != nil {
				next++
			} else if p.Meta.LastPage != int64(number) {
				r.Fatalf("page %d lacks a next link, and the last page is %d", number, p.Meta.LastPage)
			}
		}
		if seen != total {
			r.Fatalf("%d of %d entries", seen, total)
		}
	})
}
