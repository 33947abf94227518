// Package metrics keeps the service's metrics for Prometheus. Label values come
// from the program only, such as route templates and operation names, never from
// callers, such as ids and addresses, so that their number is bounded.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/tenantry/tenantry/internal/clock"
)

// Metrics are the metrics of one process, safe for concurrent use.
type Metrics struct {
	clock    clock.Clock
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	provider *prometheus.HistogramVec
	panics   prometheus.Counter
}

// New returns metrics that start at zero. c measures durations.
func New(c clock.Clock) *Metrics {
	m := &Metrics{
		clock:    c,
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tenantry_http_request_duration_seconds", Help: "Time taken to answer requests.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
		}, []string{"method", "route", "status"}),
		provider: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tenantry_psp_call_duration_seconds", Help: "Time taken by calls to the payment provider, their retries included.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}, []string{"operation", "outcome"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tenantry_panics_total", Help: "Requests that a panic ended.",
		}),
	}
	m.registry.MustRegister(m.requests, m.provider, m.panics,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request records an answered request. route is the template of its path, "" if no
// route matched.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Panicked counts a request that a panic ended.
func (m *Metrics) Panicked() { m.panics.Inc() }

// ProviderCall starts timing a call to the payment provider. The function that it
// returns records the call with its outcome.
func (m *Metrics) ProviderCall(operation string) func(outcome string) {
	start := m.clock.Now()
	return func(outcome string) {
		m.provider.WithLabelValues(operation, outcome).Observe(m.clock.Now().Sub(start).Seconds())
	}
}

// Sample describes a metric that is computed when the metrics are read.
type Sample struct {
	Name, Help string
	// Labels are constant; nil for none. Samples with the same name have the same
	// label keys.
	Labels map[string]string
	// Total marks a counter, whose value only grows.
	Total bool
}

// Read adds samples that one function computes together. values returns one value
// for each sample, in order, or nil if it cannot read them.
func (m *Metrics) Read(samples []Sample, values func() []float64) {
	r := &reader{values: values}
	for _, s := range samples {
		kind := prometheus.GaugeValue
		if s.Total {
			kind = prometheus.CounterValue
		}
		r.descs = append(r.descs, prometheus.NewDesc(s.Name, s.Help, nil, s.Labels))
		r.kinds = append(r.kinds, kind)
	}
	m.registry.MustRegister(r)
}

// Handler returns the handler of GET /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// reader is a prometheus.Collector of samples that are computed together.
type reader struct {
	descs  []*prometheus.Desc
	kinds  []prometheus.ValueType
	values func() []float64
}

// Describe implements prometheus.Collector.
func (r *reader) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range r.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r *reader) Collect(ch chan<- prometheus.Metric) {
	for i, v := range r.values() {
		ch <- prometheus.MustNewConstMetric(r.descs[i], r.kinds[i], v)
	}
}
