package app_test

import (
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.Call("GET", o.Path("/entitlements"), "", nil).Want(401)
		s.Call("GET", "/no/such/path/of/ada@example.com", "", nil).Want(404)
		text := s.Scrape(s.URL + "/metrics")
		for _, want := range []string{
			`tenantry_http_request_duration_seconds_count{method="POST",route="/api/v1/auth/register",status="201"} 1`,
			`tenantry_http_request_duration_seconds_count{method="GET",route="/api/v1/tenant/{tenantId}/entitlements",status="401"} 1`,
			`tenantry_http_request_duration_seconds_count{method="GET",route="none",status="404"} 1`,
			`tenantry_psp_call_duration_seconds_count{operation="create customer",outcome="answered"}`,
			"tenantry_jobs_dead 0", "tenantry_jobs_waiting ", "tenantry_jobs_lag_seconds ", "tenantry_db_connections_open{pool=",
			"go_goroutines ", "process_resident_memory_bytes ",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s", want)
			}
		}
		// Nothing that callers choose becomes a label.
		if found := regexp.MustCompile(`ada@example|` + o.Tenant + `|cus_|/no/such`).FindString(text); found != "" {
			t.Errorf("the metrics name %q", found)
		}
	})
}

func TestMetricsOnAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		address := apptest.FreeAddress(t)
		s := apptest.Start(t, dialect, func(s *settings.Settings) { s.MetricsAddr = address })
		if text := s.Scrape("http://" + address + "/metrics"); !strings.Contains(text, "tenantry_jobs_waiting") {
			t.Error("the figures are missing")
		}
		if text := s.Scrape("http://" + address + "/debug/pprof/goroutine?debug=1"); !strings.Contains(text, "goroutine profile: total") {
			t.Error("the profile is missing")
		}
		s.Call("GET", "/debug/pprof/", "", nil).Want(404) // not where everybody comes
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
			_ = c.Close()
			t.Error("the address is still held")
		}
	}
}

// Profiles show what is in memory: a metrics address that others reach has none, unless it
// is named for them.
func TestProfilesAreForThisMachine(t *testing.T) {
	t.Parallel()
	everywhere := func(t *testing.T) (listens, reached string) {
		_, port, err := net.SplitHostPort(apptest.FreeAddress(t))
		if err != nil {
			t.Fatal(err)
		}
		return "0.0.0.0:" + port, "http://127.0.0.1:" + port
	}
	metrics, at := everywhere(t)
	named, namedAt := everywhere(t)
	s := apptest.Start(t, sqldb.SQLite, func(s *settings.Settings) { s.MetricsAddr, s.ProfilesAddr = metrics, named })
	ask := func(address string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return s.Do(r).Status
	}
	for address, want := range map[string]int{
		at + "/metrics": 200, at + "/debug/pprof/": 404, at + "/debug/pprof/goroutine?debug=1": 404,
		namedAt + "/metrics": 404, namedAt + "/debug/pprof/": 200,
	} {
		if got := ask(address); got != want {
			t.Errorf("%s: %d, want %d", address, got, want)
		}
	}
}
