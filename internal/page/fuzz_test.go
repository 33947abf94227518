package page_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/page"
)

// FuzzParse checks that no query causes a panic, that accepted values become arguments and never
// SQL, and that all other values are rejected.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "page=2&per_page=100&sort=-name,id&include=a,b.c&filter[name]=x&search=%25", "per_page=0", "page=9223372036854775807", "sort=';--",
		"filter[day]=2026-01-31&filter[until]=2026-01-31T08:15:30Z", "filter[id]=01990000-0000-7000-8000-000000000000&filter[on]=1&filter[kind]=a",
		"filter[n]=-9223372036854775808", "filter[name][]=x&filter[]=y&filter=z&filter[[", "include[]=a&sort[0]=name", "filter[name]=%00%ff",
	} {
		f.Add(seed)
	}
	spec := page.Spec{
		Filters: map[string]page.Filter{
			"name": {Kind: page.PartialMatch, Exprs: []string{"name", "title"}}, "id": {Kind: page.UUID, Exprs: []string{"id"}},
			"on": {Kind: page.Bool, Exprs: []string{"is_on"}}, "kind": {Kind: page.Enum, Exprs: []string{"kind"}, Values: []string{"a", "b"}},
			"n": {Kind: page.Integer, Exprs: []string{"n"}}, "day": {Kind: page.DateFrom, Exprs: []string{"at"}},
			"until": {Kind: page.DateTo, Exprs: []string{"at"}}, "exact": {Exprs: []string{"code"}},
		},
		Params: map[string]page.Filter{"search": {Kind: page.PartialMatch, Exprs: []string{"name"}}},
		Sorts:  map[string]string{"name": "name", "id": "id"}, DefaultSort: "name", Tiebreak: "id", Includes: []string{"a", "b.c"},
	}
	sel := page.Select{Columns: "id", From: "things"}
	empty, err := spec.Parse(nil)
	if err != nil {
		f.Fatal(err)
	}
	known := len(empty.List(sel).Text)
	f.Fuzz(func(t *testing.T, text string) {
		query, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := spec.Parse(query)
		if err != nil {
			if !errors.As(err, new(*fault.Error)) {
				t.Fatalf("%q is an accident: %v", text, err)
			}
			return
		}
		list := q.List(sel)
		if strings.ContainsAny(list.Text, "\x00;\\") || strings.Count(list.Text, "'")%2 != 0 || len(list.Text) > known+2000 {
			t.Fatalf("%q becomes %s", text, list.Text)
		}
		if n := strings.Count(list.Text, "$"); n < len(list.Args) {
			t.Fatalf("%q: %d arguments in %s", text, len(list.Args), list.Text)
		}
		if p := page.New(q, "http://x/list", []int{}, 7); p.Meta.PerPage < 1 || p.Meta.PerPage > page.MaxPerPage || p.Meta.CurrentPage < 1 {
			t.Fatalf("%q: %+v", text, p.Meta)
		}
	})
}
