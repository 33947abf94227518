package app

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func (s *server) scrape(address string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return string(text)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", "", nil).want(401)
		s.call("GET", "/no/such/path/of/ada@example.com", "", nil).want(404)
		text := s.scrape(s.url + "/metrics")
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
		if found := regexp.MustCompile(`ada@example|` + o.tenant + `|cus_|/no/such`).FindString(text); found != "" {
			t.Errorf("the metrics name %q", found)
		}
	})
}

func TestMetricsOnAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		address := freeAddress(t)
		s := start(t, dialect, func(s *settings.Settings) { s.MetricsAddr = address })
		if text := s.scrape("http://" + address + "/metrics"); !strings.Contains(text, "tenantry_jobs_waiting") {
			t.Error("the figures are missing")
		}
		if text := s.scrape("http://" + address + "/debug/pprof/goroutine?debug=1"); !strings.Contains(text, "goroutine profile: total") {
			t.Error("the profile is missing")
		}
		s.call("GET", "/debug/pprof/", "", nil).want(404) // not where everybody comes
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
			_ = c.Close()
			t.Error("the address is still held")
		}
	}
}
