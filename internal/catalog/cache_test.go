package catalog_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func TestCacheHeaders(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	s.apply(t, shop)
	tags := map[string]string{}
	for _, path := range []string{"/catalog/products", "/catalog/plans", "/catalog/plans?currency=EUR", "/catalog/features", "/currencies"} {
		// Public endpoints ignore credentials.
		r := s.get(t, "/api/v1"+path, "Authorization", "Bearer nonsense")
		text := body(t, r, 200)
		if got := r.Header().Get("Cache-Control"); got != "public, max-age=60" {
			t.Errorf("%s: Cache-Control = %q", path, got)
		}
		if vary := strings.Join(r.Header().Values("Vary"), ", "); !strings.Contains(vary, "Accept-Language") {
			t.Errorf("%s: Vary = %q", path, vary)
		}
		if got := r.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: Content-Type = %q", path, got)
		}
		tag := r.Header().Get("ETag")
		if len(tag) < 10 || tag[0] != '"' || tag[len(tag)-1] != '"' {
			t.Errorf("%s: ETag = %q is not strong", path, tag)
		}
		if other, ok := tags[tag]; ok {
			t.Errorf("%s has the ETag of %s", path, other)
		}
		tags[tag] = path
		if again := s.get(t, "/api/v1"+path); again.Header().Get("ETag") != tag || body(t, again, 200) != text {
			t.Errorf("%s: the same answer has another ETag", path)
		}
	}
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	s.apply(t, shop)
	const path = "/api/v1/catalog/plans"
	tag := s.get(t, path).Header().Get("ETag")
	for header, status := range map[string]int{
		tag:                    http.StatusNotModified,
		"W/" + tag:             http.StatusNotModified,
		`"other", ` + tag:      http.StatusNotModified,
		"*":                    http.StatusNotModified,
		`"other"`:              http.StatusOK,
		strings.Trim(tag, `"`): http.StatusOK,
		"":                     http.StatusOK,
	} {
		r := s.get(t, path, "If-None-Match", header)
		if size := r.Body.Len(); r.Code != status || (size == 0) != (status == http.StatusNotModified) {
			t.Errorf("If-None-Match: %s returns %d with %d bytes, want %d", header, r.Code, size, status)
		}
		if r.Header().Get("ETag") != tag || r.Header().Get("Cache-Control") == "" || r.Header().Get("Vary") == "" {
			t.Errorf("If-None-Match: %s lacks headers: %v", header, r.Header())
		}
	}
	// Another locale has another response.
	body(t, s.get(t, path, "If-None-Match", tag, "Accept-Language", "es"), 200)
}

// Public responses are raw bytes to the HTTP layer, but the API reference still describes them.
func TestPublicAnswersAreDocumented(t *testing.T) {
	t.Parallel()
	s := newServer(t, dbtest.New(t, sqldb.SQLite))
	text, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct{ Name, In string }
				Responses  map[string]struct {
					Headers map[string]any
					Content map[string]struct{ Schema any }
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	get := doc.Paths["/api/v1/catalog/plans"].Get
	var parameters []string
	for _, p := range get.Parameters {
		parameters = append(parameters, p.In+" "+p.Name)
	}
	slices.Sort(parameters)
	if diff := cmp.Diff([]string{"header If-None-Match", "query currency"}, parameters); diff != "" {
		t.Error(diff)
	}
	for status, headers := range map[string][]string{"200": {"Cache-Control", "ETag", "Vary"}, "304": {"ETag"}, "429": nil, "500": nil} {
		response, ok := get.Responses[status]
		if !ok {
			t.Errorf("%s is not documented", status)
		}
		for _, header := range headers {
			if response.Headers[header] == nil {
				t.Errorf("%s lacks the header %s", status, header)
			}
		}
	}
	answer, err := json.Marshal(get.Responses["200"].Content["application/json"].Schema)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`#/components/schemas/([^"]+)`).FindSubmatch(answer)
	if name == nil || doc.Components.Schemas[string(name[1])].Properties["data"] == nil {
		t.Errorf("200 is %s", answer)
	}
	for _, field := range []string{"slug", "prices", "entitlements", "created_at"} {
		if doc.Components.Schemas["PublicPlan"].Properties[field] == nil {
			t.Errorf("PublicPlan lacks %s", field)
		}
	}
}

func firstPlan(t *testing.T, s *server) string {
	t.Helper()
	return data(t, body(t, s.get(t, "/api/v1/catalog/plans"), 200))[0]["name"].(string)
}

func TestCacheAge(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		here, there := newServer(t, db), newServer(t, db)
		here.apply(t, shop)
		for _, s := range []*server{here, there} {
			if got := firstPlan(t, s); got != "First" {
				t.Fatalf("name = %s", got)
			}
		}
		there.apply(t, strings.ReplaceAll(shop, "en: First", "en: Changed"))
		if got := firstPlan(t, there); got != "Changed" {
			t.Errorf("the instance that made the change shows %s", got)
		}
		here.clock.Set(here.clock.Now().Add(59 * time.Second))
		if got := firstPlan(t, here); got != "First" {
			t.Errorf("another instance shows %s within the minute", got)
		}
		here.clock.Set(here.clock.Now().Add(time.Second))
		if got := firstPlan(t, here); got != "Changed" {
			t.Errorf("another instance shows %s after a minute", got)
		}

		exec(t, db, "UPDATE plans SET name = '{\"en\":\"Again\"}' WHERE slug = 'first'")
		here.clock.Set(here.clock.Now().Add(-time.Hour))
		if got := firstPlan(t, here); got != "Again" {
			t.Errorf("after the clock was set back: %s", got)
		}
	})
}

// A change that is uncommitted or rolled back is not visible.
func TestChangedAfterCommit(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	s := newServer(t, db)
	s.apply(t, shop)
	firstPlan(t, s)
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		s.applyIn(ctx, t, strings.ReplaceAll(shop, "en: First", "en: Changed"))
		if got := firstPlan(t, s); got != "First" {
			t.Errorf("before the commit readers see %s", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := firstPlan(t, s); got != "Changed" {
		t.Errorf("after the commit readers see %s", got)
	}
}
