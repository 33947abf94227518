package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/metrics"
)

// scrape returns the metrics.
func scrape(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}

// Observations are counted under their labels. An outcome that has not occurred is 0, so that its
// first occurrence is visible as an increase.
func TestObserved(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.NewFixed(time.Unix(0, 0)))
	m.Build("v1.2.3", "abc", "go1", "sqlite")
	m.ObserveCommits()
	m.Usage(3, 1, 2, 0)
	m.Job("mail.send", "done", 2*time.Second)
	m.WebhookAttempt("refused", time.Second)
	m.RecordCommit(7, time.Millisecond)
	m.CommitWaited(time.Second)
	m.Request(t.Context(), "GET", "", 404, time.Second)
	m.ProviderCall("read price")("answered")
	m.CountPanic()
	m.CountDropped(4)
	wantLines(t, scrape(m),
		`tenantry_build_info{commit="abc",database="sqlite",go_version="go1",version="v1.2.3"} 1`,
		`tenantry_usage_events_total{outcome="accepted"} 3`, `tenantry_usage_events_total{outcome="duplicate"} 1`,
		`tenantry_usage_events_total{outcome="quota_exceeded"} 2`, `tenantry_usage_events_total{outcome="failed"} 0`,
		`tenantry_usage_batch_events_sum 6`,
		`tenantry_job_duration_seconds_sum{kind="mail.send",outcome="done"} 2`,
		`tenantry_webhook_attempt_duration_seconds_count{outcome="refused"} 1`,
		`tenantry_db_commit_transactions_bucket{le="8"} 1`, `tenantry_db_commit_transactions_bucket{le="4"} 0`,
		`tenantry_db_commit_duration_seconds_count 1`, `tenantry_db_commit_wait_seconds_sum 1`,
		`tenantry_http_request_duration_seconds_count{method="GET",route="none",status="404"} 1`,
		`tenantry_psp_call_duration_seconds_count{operation="read price",outcome="answered"} 1`,
		`tenantry_panics_total 1`, `tenantry_request_log_dropped_total 4`,
	)
}

// Values from Read have the right type and labels, and missing values are absent.
func TestRead(t *testing.T) {
	t.Parallel()
	m := metrics.New(clock.System())
	broken := false
	m.RegisterComputed([]metrics.Family{
		{Name: "x_by_kind", Help: "By kind.", Labels: []string{"kind"}},
		{Name: "x_total", Help: "A total.", Total: true},
	}, func(put metrics.Put) {
		put("x_by_kind", 1, "a")
		put("x_by_kind", 2, "b")
		if !broken {
			put("x_total", 3)
		}
	})
	wantLines(t, scrape(m), "# TYPE x_by_kind gauge", `x_by_kind{kind="a"} 1`, `x_by_kind{kind="b"} 2`, "# TYPE x_total counter", "x_total 3")
	broken = true
	if text := scrape(m); strings.Contains(text, "x_total") || !strings.Contains(text, "x_by_kind") {
		t.Errorf("%s", text)
	}
}
