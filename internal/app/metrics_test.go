package app_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
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
		// No label contains a value that callers choose.
		if found := regexp.MustCompile(`ada@example|` + o.Tenant + `|cus_|/no/such`).FindString(text); found != "" {
			t.Errorf("the metrics name %q", found)
		}
	})
}

// served is the kind and the labels of a metric.
type served struct{ kind, labels string }

var (
	documented = regexp.MustCompile("(?m)^\\| `(tenantry_[a-z_]+)` \\| ([a-z]+) \\|([^|]*)\\| [^|]+ \\|$")
	kindLine   = regexp.MustCompile(`(?m)^# TYPE (tenantry_[a-z_]+) ([a-z]+)$`)
	helpLine   = regexp.MustCompile(`(?m)^# HELP (tenantry_[a-z_]+) \S`)
	sampleLine = regexp.MustCompile(`(?m)^(tenantry_[a-z_]+?)(?:_bucket|_sum|_count)?(?:\{([^}]*)\})? `)
	labelName  = regexp.MustCompile(`([a-z_]+)="[^"]*"`)
)

// readServed returns the service's own metrics in an exposition text.
func readServed(t *testing.T, text string) map[string]served {
	t.Helper()
	helped := map[string]bool{}
	for _, match := range helpLine.FindAllStringSubmatch(text, -1) {
		helped[match[1]] = true
	}
	labels := map[string]string{}
	for _, match := range sampleLine.FindAllStringSubmatch(text, -1) {
		var names []string
		for _, label := range labelName.FindAllStringSubmatch(match[2], -1) {
			if label[1] != "le" {
				names = append(names, label[1])
			}
		}
		slices.Sort(names)
		labels[match[1]] = strings.Join(names, " ")
	}
	all := map[string]served{}
	for _, match := range kindLine.FindAllStringSubmatch(text, -1) {
		if all[match[1]] = (served{match[2], labels[match[1]]}); !helped[match[1]] {
			t.Errorf("%s lacks a help text", match[1])
		}
	}
	return all
}

// deployed checks that the files in deploy only query existing metrics, with valid suffixes.
func deployed(t *testing.T, text string) {
	t.Helper()
	asked := 0
	for _, file := range []string{"prometheus/alerts.yml", "prometheus/alerts_test.yml", "grafana/tenantry.json"} {
		content, err := os.ReadFile("../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\b(?:tenantry|process|go)_[a-z_]+\b`).FindAllString(string(content), -1) {
			asked++
			if !strings.Contains(text, "\n"+name+" ") && !strings.Contains(text, "\n"+name+"{") {
				t.Errorf("%s uses metric %s, which is not served", file, name)
			}
		}
	}
	if asked < 50 {
		t.Errorf("found only %d metrics", asked)
	}
}

// readDocumented reads a section of docs/metrics.md.
func readDocumented(t *testing.T, into map[string]served, page, heading string) {
	t.Helper()
	_, part, found := strings.Cut(page, "\n## "+heading+"\n")
	part, _, _ = strings.Cut(part, "\n## ")
	rows := documented.FindAllStringSubmatch(part, -1)
	if !found || len(rows) == 0 {
		t.Fatalf("no metrics under the heading %q", heading)
	}
	for _, row := range rows {
		names := strings.FieldsFunc(row[3], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		slices.Sort(names)
		into[row[1]] = served{row[2], strings.Join(names, " ")}
	}
}

// After some traffic of each kind, the metrics are exactly the documented ones, each with a help
// text, and Prometheus's linter reports no problem.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter") // calls the provider, which sends notifications
		s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "idempotency_key": "1"}).Want(201)
		s.Call("POST", o.Path("/usage"), o.Token, apptest.Object{"meter_code": "api-calls", "idempotency_key": "1"}).Want(409)
		hook := s.Call("POST", o.Path("/webhook-endpoints"), o.Token, apptest.Object{"url": s.URL + "/sandbox/hooks/in/ada", "events": []string{"webhook.test"}}).Want(201)
		s.Call("POST", o.Path("/webhook-endpoints/")+hook.Str("data.id")+"/test", o.Token, nil).Want(202)
		want := map[string]served{}
		readDocumented(t, want, string(page), "Of each process")
		readDocumented(t, want, string(page), "Of the database")
		if strings.HasPrefix(s.Database, "sqlite:") {
			readDocumented(t, want, string(page), "Of SQLite alone")
			if err := commands.Backup(t.Context(), s.CLISettings(), filepath.Join(t.TempDir(), "saved.db"), io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		var text string
		apptest.Eventually(t, "a delivery and a notification", func() bool {
			text = s.Scrape(s.URL + "/metrics")
			return strings.Contains(text, `tenantry_webhook_attempt_duration_seconds_count{outcome="answered"} 1`) &&
				strings.Contains(text, "tenantry_psp_last_notification_timestamp_seconds ")
		})
		if diff := cmp.Diff(want, readServed(t, text), cmp.AllowUnexported(served{})); diff != "" {
			t.Errorf("docs/metrics.md (-) and the metrics served (+):\n%s", diff)
		}
		if strings.HasPrefix(s.Database, "sqlite:") { // SQLite has all metrics
			deployed(t, text)
		}
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		for _, line := range []string{
			`tenantry_usage_events_total{outcome="accepted"} 1`, `tenantry_usage_events_total{outcome="duplicate"} 1`,
		} {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("no %s", line)
			}
		}
	})
}

func TestMetricsOnASeparateAddress(t *testing.T) {
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
		s.Call("GET", "/debug/pprof/", "", nil).Want(404) // not at the public address
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
			_ = c.Close()
			t.Error("the address is still in use")
		}
	}
}

// Profiles show the contents of memory. A metrics address that other machines can reach does not
// serve profiles. TENANTRY_PROFILES_ADDR serves them on any address.
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
