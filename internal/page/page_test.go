package page_test

import (
	"encoding/json"
	"math"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/page"
)

const address = "https://example.com/api/v1/things"

func parse(t *testing.T, spec page.Spec, query string) (page.Query, error) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Parse(values)
}

func mustParse(t *testing.T, spec page.Spec, query string) page.Query {
	t.Helper()
	q, err := parse(t, spec, query)
	if err != nil {
		t.Fatalf("Parse(%q): %v", query, err)
	}
	return q
}

func TestPageBody(t *testing.T) {
	t.Parallel()
	spec := page.Spec{Tiebreak: "id"}
	q := mustParse(t, spec, "page=2&per_page=2")
	body, err := json.Marshal(page.New(q, address, []string{"c", "d"}, 5))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"data":["c","d"],"meta":{"current_page":2,"last_page":3,"per_page":2,"total":5},"links":{` +
		`"first":"https://example.com/api/v1/things?page=1\u0026per_page=2",` +
		`"last":"https://example.com/api/v1/things?page=3\u0026per_page=2",` +
		`"prev":"https://example.com/api/v1/things?page=1\u0026per_page=2",` +
		`"next":"https://example.com/api/v1/things?page=3\u0026per_page=2"}}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
	empty, err := json.Marshal(page.New[string](q, address, nil, 0).Data)
	if err != nil || string(empty) != "[]" {
		t.Errorf("no entries encode as %s, %v; want []", empty, err)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		query              string
		total              int64
		lastPage           int64
		prevPage, nextPage string // "" means null
	}{
		"the default is page 1 of 25":   {"", 26, 2, "", "2"},
		"a single page":                 {"", 25, 1, "", ""},
		"an empty list has one page":    {"", 0, 1, "", ""},
		"first":                         {"page=1&per_page=10", 30, 3, "", "2"},
		"last":                          {"page=3&per_page=10", 30, 3, "2", ""},
		"beyond the end":                {"page=9&per_page=10", 30, 3, "3", ""},
		"beyond the end of nothing":     {"page=9", 0, 1, "1", ""},
		"the largest page that counts":  {"page=" + strconv.Itoa(math.MaxInt64), 30, 2, "2", ""},
		"spaces and empty are defaults": {"page=+&per_page=", 26, 2, "", "2"},
		"of several the last counts":    {"page=1&page=2", 51, 3, "1", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := page.New[int](mustParse(t, page.Spec{Tiebreak: "id"}, tt.query), address, nil, tt.total)
			if p.Meta.LastPage != tt.lastPage {
				t.Errorf("last_page = %d, want %d", p.Meta.LastPage, tt.lastPage)
			}
			if got := pageOf(t, p.Links.Prev); got != tt.prevPage {
				t.Errorf("prev = %q, want %q", got, tt.prevPage)
			}
			if got := pageOf(t, p.Links.Next); got != tt.nextPage {
				t.Errorf("next = %q, want %q", got, tt.nextPage)
			}
		})
	}
}

func pageOf(t *testing.T, link *string) string {
	t.Helper()
	if link == nil {
		return ""
	}
	u, err := url.Parse(*link)
	if err != nil || !u.IsAbs() {
		t.Fatalf("link %q: %v", *link, err)
	}
	return u.Query().Get("page")
}

func TestLinksKeepTheQuery(t *testing.T) {
	t.Parallel()
	spec := page.Spec{
		Filters:  map[string]page.Filter{"name": {Kind: page.PartialMatch, Exprs: []string{"name"}}},
		Sorts:    map[string]string{"age": "age"},
		Tiebreak: "id",
	}
	const query = "filter[name]=100%25+%26+%C3%A9&sort=-age&per_page=1&page=2&lang=fr&lang=it"
	p := page.New[int](mustParse(t, spec, query), address, nil, 9)
	want, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	want.Set("page", "3")
	u, err := url.Parse(*p.Links.Next)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, u.Query()); diff != "" {
		t.Error(diff)
	}
	if got := u.Scheme + "://" + u.Host + u.Path; got != address {
		t.Errorf("link = %q", got)
	}
}
