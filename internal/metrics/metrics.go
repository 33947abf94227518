// Package metrics provides the service's metrics for Prometheus. Label values come only from the
// program (route templates, operation names), never from callers (IDs, addresses), so that their
// number is bounded. docs/metrics.md documents each metric.
package metrics

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/tracing"
)

// Metrics are the metrics of a process. It is safe for concurrent use.
type Metrics struct {
	clock    clock.Clock
	registry *prometheus.Registry

	requests *prometheus.HistogramVec
	panics   prometheus.Counter
	provider *prometheus.HistogramVec
	jobs     *prometheus.HistogramVec
	webhooks *prometheus.HistogramVec
	dropped  prometheus.Counter
	usage    usageMetrics
	commits  commitMetrics
}

// usageMetrics are the metrics of usage recording. The counters of the few outcomes are resolved in
// advance, so that recording needs no label lookup.
type usageMetrics struct {
	accepted, duplicate, overQuota, failed prometheus.Counter
	batch                                  prometheus.Histogram
}

// commitMetrics are the metrics of SQLite's group commit.
type commitMetrics struct{ transactions, took, waited prometheus.Histogram }

// New returns metrics that start at zero. c measures durations.
func New(c clock.Clock) *Metrics {
	m := &Metrics{
		clock:    c,
		registry: prometheus.NewRegistry(),
		requests: histogramVec("tenantry_http_request_duration_seconds", "Duration of HTTP requests.",
			[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30}, "method", "route", "status"),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "tenantry_panics_total", Help: "Requests that panicked."}),
		provider: histogramVec("tenantry_psp_call_duration_seconds", "Duration of calls to the payment provider, including retries.",
			[]float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20}, "operation", "outcome"),
		jobs: histogramVec("tenantry_job_duration_seconds", "Duration of background jobs.",
			[]float64{.005, .025, .1, .5, 2.5, 10, 60}, "kind", "outcome"),
		webhooks: histogramVec("tenantry_webhook_attempt_duration_seconds", "Duration of webhook delivery attempts.",
			[]float64{.025, .1, .25, .5, 1, 2.5, 5, 15}, "outcome"),
	}
	m.dropped = prometheus.NewCounter(prometheus.CounterOpts{Name: "tenantry_request_log_dropped_total", Help: "Requests that are missing in the request log."})
	m.registry.MustRegister(m.dropped, m.requests, m.panics, m.provider, m.jobs, m.webhooks,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.usage = m.newUsage()
	return m
}

func histogramVec(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func (m *Metrics) newUsage() usageMetrics {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tenantry_usage_events_total", Help: "Usage events by outcome.",
	}, []string{"outcome"})
	batch := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "tenantry_usage_batch_events", Help: "Usage events per transaction.", Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
	})
	m.registry.MustRegister(events, batch)
	return usageMetrics{
		accepted: events.WithLabelValues("accepted"), duplicate: events.WithLabelValues("duplicate"),
		overQuota: events.WithLabelValues("quota_exceeded"), failed: events.WithLabelValues("failed"), batch: batch,
	}
}

// Build sets the build information: the version of the program and the type of its database.
func (m *Metrics) Build(version, commit, goVersion, database string) {
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tenantry_build_info", Help: "Always 1. The labels describe the build.",
	}, []string{"version", "commit", "go_version", "database"})
	build.WithLabelValues(version, commit, goVersion, database).Set(1)
	m.registry.MustRegister(build)
}

// ObserveCommits registers the metrics of group commit. Call it at most once, before RecordCommit
// and CommitWaited.
func (m *Metrics) ObserveCommits() {
	m.commits = commitMetrics{
		transactions: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tenantry_db_commit_transactions", Help: "Transactions per commit.", Buckets: []float64{1, 2, 4, 8, 16, 32},
		}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tenantry_db_commit_duration_seconds", Help: "Duration of durable commits.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, 1},
		}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tenantry_db_commit_wait_seconds", Help: "Time that transactions waited for earlier transactions.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, 1, 5},
		}),
	}
	m.registry.MustRegister(m.commits.transactions, m.commits.took, m.commits.waited)
}

// RecordCommit records a commit shared by the given number of transactions.
func (m *Metrics) RecordCommit(transactions int, took time.Duration) {
	m.commits.transactions.Observe(float64(transactions))
	m.commits.took.Observe(took.Seconds())
}

// CommitWaited records the time that a transaction waited for its turn.
func (m *Metrics) CommitWaited(d time.Duration) { m.commits.waited.Observe(d.Seconds()) }

// Request records a request. route is the template of its path, or "" if no route matched. A traced
// request adds its trace ID as an exemplar.
func (m *Metrics) Request(ctx context.Context, method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	o := m.requests.WithLabelValues(method, route, strconv.Itoa(status))
	if trace := tracing.ID(ctx); trace != "" {
		if exemplar, ok := o.(prometheus.ExemplarObserver); ok {
			exemplar.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": trace})
			return
		}
	}
	o.Observe(took.Seconds())
}

// CountPanic counts a request that panicked.
func (m *Metrics) CountPanic() { m.panics.Inc() }

// CountDropped counts requests that are missing in the request log.
func (m *Metrics) CountDropped(n int) { m.dropped.Add(float64(n)) }

// ProviderCall starts timing a call to the payment provider. The returned function records the call
// with its outcome.
func (m *Metrics) ProviderCall(operation string) func(outcome string) {
	start := m.clock.Now()
	return func(outcome string) {
		m.provider.WithLabelValues(operation, outcome).Observe(m.clock.Now().Sub(start).Seconds())
	}
}

// Job records a run of a background job.
func (m *Metrics) Job(kind, outcome string, took time.Duration) {
	m.jobs.WithLabelValues(kind, outcome).Observe(took.Seconds())
}

// WebhookAttempt records a webhook delivery attempt.
func (m *Metrics) WebhookAttempt(outcome string, took time.Duration) {
	m.webhooks.WithLabelValues(outcome).Observe(took.Seconds())
}

// Usage records a batch of usage events by outcome.
func (m *Metrics) Usage(accepted, duplicate, overQuota, failed int) {
	u := &m.usage
	u.batch.Observe(float64(accepted + duplicate + overQuota + failed))
	u.accepted.Add(float64(accepted))
	u.duplicate.Add(float64(duplicate))
	u.overQuota.Add(float64(overQuota))
	u.failed.Add(float64(failed))
}

// Handler returns the handler of GET /metrics.
func (m *Metrics) Handler() http.Handler {
	// Exemplars are exposed only in the OpenMetrics format, which clients must request.
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}
