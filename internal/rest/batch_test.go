package rest_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/rest"
)

func batchRoutes() []rest.Route {
	type body struct{ Name string }
	read := func(_ context.Context, in *struct {
		Name string `query:"name"`
	},
	) (*rest.Data[body], error) {
		return rest.OK(body{in.Name}), nil
	}
	large := func(context.Context, *struct{}) (*rest.Data[string], error) {
		return rest.OK(strings.Repeat("x", 2<<20)), nil
	}
	row := func(path string, scope rest.Scope, permission string, h rest.Handler) rest.Route {
		return rest.Route{Method: "GET", Path: path, Scope: scope, Permission: permission, Rate: "default", Summary: path, Handler: h}
	}
	batch := row("/api/v1/batch", rest.Public, "", rest.Batch())
	batch.Optional = true
	return []rest.Route{
		batch,
		row("/api/v1/open", rest.Public, "", rest.Handle(read)),
		row("/api/v1/mine", rest.User, "", rest.Handle(read)),
		row("/api/v1/tenant/{tenantId}/things", rest.Tenant, "", rest.Handle(read)),
		row("/api/v1/tenant/{tenantId}/bills", rest.Tenant, "billing.manage", rest.Handle(read)),
		row("/api/v1/admin/things", rest.Admin, "products.view", rest.Handle(read)),
		row("/api/v1/large", rest.Public, "", rest.Handle(large)),
	}
}

func batchOf(urls ...string) string {
	return "/api/v1/batch?" + url.Values{"url": urls}.Encode()
}

// Each read of a batch has the status and the body of a request of its own: the guards, the
// permission and the tenant are checked for each.
func TestBatchChecksEachRead(t *testing.T) {
	t.Parallel()
	s := start(t, batchRoutes())
	urls := []string{
		"/api/v1/open?name=a", "/api/v1/mine", "/api/v1/tenant/" + ownTenant.String() + "/things?name=b&name=c", "/api/v1/tenant/" + otherTenant.String() + "/things",
		"/api/v1/tenant/" + ownTenant.String() + "/bills", "/api/v1/admin/things", "/api/v1/none",
	}
	for caller, want := range map[string][]float64{
		"":       {200, 401, 401, 401, 401, 401, 404},
		"wrong":  {200, 401, 401, 401, 401, 401, 404},
		"nobody": {200, 200, 403, 403, 403, 403, 404},
		"member": {200, 200, 200, 403, 403, 403, 404},
		"owner":  {200, 200, 200, 403, 200, 403, 404},
		"admin":  {200, 200, 403, 403, 403, 200, 404},
	} {
		header := []string{}
		if caller != "" {
			header = append(header, "Authorization: Bearer "+caller)
		}
		got := s.get(batchOf(urls...), header...)
		var all struct {
			Data []struct {
				URL    string
				Status float64
				Body   json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(got.Body), &all); err != nil || got.Status != http.StatusOK || len(all.Data) != len(urls) {
			t.Fatalf("%s: %d %s", caller, got.Status, got.Body)
		}
		for i, one := range all.Data {
			alone := s.get(urls[i], header...)
			if one.URL != urls[i] || one.Status != want[i] || float64(alone.Status) != want[i] {
				t.Errorf("%q reads %s: %v, single request %d, want %v", caller, urls[i], one.Status, alone.Status, want[i])
			}
			if string(one.Body) != strings.TrimSpace(alone.Body) {
				t.Errorf("%q reads %s: %s, single request %s", caller, urls[i], one.Body, alone.Body)
			}
		}
	}
}

// Each read counts in the rate limit of its route, and the batch itself counts once.
func TestBatchCountsEachRead(t *testing.T) {
	t.Parallel()
	s := start(t, batchRoutes(), func(c *rest.Config) { c.Limiter = limited(map[string]int{"default": 3}) })
	got := s.get(batchOf("/api/v1/open", "/api/v1/open", "/api/v1/open"))
	if strings.Count(got.Body, `"status":200`) != 2 || strings.Count(got.Body, `"status":429`) != 1 {
		t.Error(got.Body)
	}
	if again := s.get(batchOf("/api/v1/open")); again.Status != http.StatusTooManyRequests {
		t.Error(again.Status)
	}
}

func TestBatchRejects(t *testing.T) {
	t.Parallel()
	s := start(t, batchRoutes())
	many := make([]string, 41)
	for i := range many {
		many[i] = "/api/v1/open"
	}
	for _, urls := range [][]string{
		{},
		many,
		{""},
		{"open"},
		{"/metrics"},
		{"/api/v2/open"},
		{"https://evil.example/api/v1/open"},
		{"//evil.example/api/v1/open"},
		{batchOf("/api/v1/open")},
		{"/api/v1/batch/"},
		{"/api/v1/open", "/sandbox/mail"},
	} {
		if got := s.get(batchOf(urls...)); got.Status != http.StatusUnprocessableEntity || !strings.Contains(got.Body, `"errors":{"url":`) {
			t.Errorf("%.60v: %d %s", urls, got.Status, got.Body)
		}
	}
	if got := s.get(batchOf(many[:40]...)); got.Status != http.StatusOK {
		t.Errorf("40 reads: %d", got.Status)
	}
	if got := s.get(batchOf("/api/v1/large")); got.Status != http.StatusOK || !strings.Contains(got.Body, `"body":null`) {
		t.Errorf("a large response: %d %.100s", got.Status, got.Body)
	}
}

// The response is compressed if the client accepts it.
func TestBatchIsCompressed(t *testing.T) {
	t.Parallel()
	s := start(t, batchRoutes())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+batchOf("/api/v1/open?name=a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	packed, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(packed)
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" || strings.TrimSpace(string(text)) != s.get(batchOf("/api/v1/open?name=a")).Body {
		t.Errorf("%v %s %v", resp.Header, text, err)
	}
}
