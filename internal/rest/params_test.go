package rest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/rest/shape"
)

func TestQueryAccepted(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	since := shape.T(time.Date(2026, 1, 31, 8, 15, 30, 0, time.UTC))
	tests := map[string]found{
		"":                                      {Page: 1, PerPage: 25},
		"?":                                     {Page: 1, PerPage: 25},
		"?active=true&page=2":                   {Active: true, Page: 2, PerPage: 25},
		"?active=1&per_page=100":                {Active: true, Page: 1, PerPage: 100},
		"?active=false":                         {Page: 1, PerPage: 25},
		"?active=0":                             {Page: 1, PerPage: 25},
		"?active=&page=&sort=":                  {Page: 1, PerPage: 25},
		"?page=2.0&page=3.0":                    {Page: 3, PerPage: 25},
		"?unknown=x&PAGE=9":                     {Page: 1, PerPage: 25},
		"?sort=-name&q=%20ab%20":                {Page: 1, PerPage: 25, Sort: "-name", Q: "ab"},
		"?include=prices&include=features":      {Page: 1, PerPage: 25, Include: []string{"prices", "features"}},
		"?include=prices,%20features,":          {Page: 1, PerPage: 25, Include: []string{"prices", "features"}},
		"?q=a%26b%3D%2B+":                       {Page: 1, PerPage: 25, Q: "a&b=+"},
		"?since=2026-01-31T08:15:30Z":           {Page: 1, PerPage: 25, Since: &since},
		"?filter[name]=%20a&filter%5Bname%5D=b": {Page: 1, PerPage: 25, Raw: []string{" a", "b"}},
	}
	for query, want := range tests {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			got := (&server{t: t, url: s.url}).get("/api/v1/gadgets" + query)
			if got.Status != http.StatusOK {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			var f found
			if err := json.Unmarshal([]byte(got.Body), &f); err != nil {
				t.Fatal(err)
			}
			if len(f.Include) == 0 {
				f.Include = nil
			}
			if len(f.Raw) == 0 {
				f.Raw = nil
			}
			text := func(f found) string { b, _ := json.Marshal(f); return string(b) }
			if text(f) != text(want) {
				t.Errorf("got %s, want %s", text(f), text(want))
			}
		})
	}
}

func TestQueryRefused(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for query, want := range map[string]map[string]string{
		"active=True":               {"active": boolean},
		"active=t":                  {"active": boolean},
		"active=yes&page=x":         {"active": boolean, "page": integer},
		"page=1.5":                  {"page": integer},
		"page=0":                    {"page": "This must be at least 1."},
		"page=%2B1":                 {"page": integer},
		"page=0x10":                 {"page": integer},
		"page=1_0":                  {"page": integer},
		"page=99999999999999999999": {"page": integer},
		"page=null":                 {"page": integer},
		"per_page=101":              {"per_page": "This must be at most 100."},
		"sort=price":                {"sort": "This must be one of: name, -name."},
		"include=prices,owner":      {"include": "This must be one of: prices, features."},
		"q=123456":                  {"q": "This must have at most 5 characters."},
		"q=%00":                     {"q": chars},
		"q=%ff":                     {"q": chars},
		"since=yesterday":           {"since": "This must be a date and time such as 2026-01-31T08:15:30Z."},
		"filter[name]=%00&b=%ff":    {"filter.name": chars, "b": chars},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			(&server{t: t, url: s.url}).get("/api/v1/gadgets?" + query).broken(want)
		})
	}
	for _, query := range []string{"q=%zz", "a;b=1", "%ff=1", "%00=1"} {
		s.get("/api/v1/gadgets?" + query).refused(http.StatusBadRequest)
	}
}

// A malformed path parameter is a 404, before the body is validated.
func TestPath(t *testing.T) {
	t.Parallel()
	s := start(t, routes())
	for _, id := range []string{"abc", "1.0", "+1", "%201", "01", "99999999999999999999", "404", "%00"} {
		s.do("PATCH", "/api/v1/gadgets/"+id, `{broken`, "Authorization: Bearer owner").refused(http.StatusNotFound)
	}
	s.do("PATCH", "/api/v1/gadgets/5", `{broken`, "Authorization: Bearer owner").refused(http.StatusBadRequest)

	const event = "0190a0b0-0000-7000-8000-00000000000a"
	meters := "/api/v1/usage/" + ownTenant.String() + "/meters/"
	for path, want := range map[string]string{
		"api/" + event:                     `["` + ownTenant.String() + `","api","` + event + `"]`,
		"a%2Fb%20c/" + event:               `["` + ownTenant.String() + `","a/b c","` + event + `"]`,
		"%C3%A9/" + strings.ToUpper(event): `["` + ownTenant.String() + `","é","` + event + `"]`,
	} {
		got := s.get(meters+path, "Authorization: Bearer owner")
		if got.Status != http.StatusOK || got.Body != `{"data":`+want+`}` {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	for _, path := range []string{
		"%00/" + event, "a%0Ab/" + event, "%ff/" + event, "%20/" + event, "elevenchars/" + event,
		"api/" + strings.ReplaceAll(event, "-", ""), "api/urn:uuid:" + event, "api/%7B" + event + "%7D", "api/x", "/" + event,
	} {
		s.get(meters+path, "Authorization: Bearer owner").refused(http.StatusNotFound)
	}
}
