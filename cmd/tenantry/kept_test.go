package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/sandbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// queries returns how many queries a trace has.
func (s *spans) queries(trace string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.names[trace] {
		if strings.HasPrefix(name, "sql ") {
			n++
		}
	}
	return n
}

// On SQLite who asks again makes no query, also after somebody else has logged in, refreshed
// a login or logged out, and after usage was recorded, which ends the quotas of its tenant.
func TestWhatOthersDoEndsNothing(t *testing.T) {
	t.Parallel()
	collected := &spans{names: map[string][]string{}, parents: map[string]string{}}
	web := httptest.NewServer(collected)
	defer web.Close()
	address := freeAddress(t)
	server := startWatched(t, append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(), "TENANTRY_LOG_LEVEL=error",
		"TENANTRY_DATABASE_URL="+dbtest.URL(t, sqldb.SQLite), "OTEL_EXPORTER_OTLP_ENDPOINT="+web.URL, "OTEL_BSP_SCHEDULE_DELAY=20"), address)
	base := "http://" + address + "/api/v1"
	c := &client{t: t, http: &http.Client{}}
	owner, tenant := c.logIn(base, sandbox.OwnerEmail, sandbox.OwnerPassword)
	paths := []string{"/auth/me", "/tenant/" + tenant + "/entitlements", "/tenant/" + tenant + "/usage/quotas"}
	traces := 0
	queries := func(path string) int {
		t.Helper()
		traces++
		trace := fmt.Sprintf("%032x", traces)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+owner)
		r.Header.Set("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
		resp, err := c.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", path, resp.StatusCode)
		}
		apptest.Eventually(t, "the trace of "+path, func() bool { return collected.has(trace, "GET /api/v1") })
		return collected.queries(trace)
	}
	var session struct{ AccessToken, RefreshToken string }
	write := func(path, token, body string) {
		t.Helper()
		if a := c.call("POST", base+path, token, body); a.status/100 != 2 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
	}
	logIn := func() {
		t.Helper()
		c.into(&session, c.call("POST", base+"/auth/login", "", fmt.Sprintf(`{"email":%q,"password":%q}`, sandbox.AdminEmail, sandbox.AdminPassword)))
	}
	for _, step := range []struct {
		name  string
		write func()
		ends  string // the only path that is read anew
	}{
		{"nothing", func() {}, ""},
		{"a login", logIn, ""},
		{"a refresh", func() {
			c.into(&session, c.call("POST", base+"/auth/refresh", "", fmt.Sprintf(`{"refresh_token":%q}`, session.RefreshToken)))
		}, ""},
		{"a logout", func() { logIn(); write("/auth/logout", session.AccessToken, "") }, ""},
		{"a recording", func() { write("/tenant/"+tenant+"/usage", owner, `{"meter_code":"api-calls","quantity":1}`) }, paths[2]},
	} {
		want := map[string]bool{paths[0]: step.ends == paths[0], paths[1]: step.ends == paths[1], paths[2]: step.ends == paths[2]}
		read := map[string]bool{}
		for range 4 { // a job may commit at any moment, and who asks just then reads anew
			for _, path := range paths {
				queries(path)
			}
			step.write()
			for _, path := range paths {
				read[path] = queries(path) > 0
			}
			if maps.Equal(read, want) {
				break
			}
		}
		if !maps.Equal(read, want) {
			t.Errorf("after %s it is read anew: %v, want %v", step.name, read, want)
		}
	}
	server.stop(t)
}
