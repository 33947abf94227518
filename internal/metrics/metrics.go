// Package metrics counts what the service does, for Prometheus. Labels only have
// values that the program knows: routes by their template, operations by their
// names; never an id, an address or anything else that callers choose.
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

// Metrics are the figures of one process. It is safe for concurrent use.
type Metrics struct {
	clock    clock.Clock
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	provider *prometheus.HistogramVec
}

// New returns the figures, all at zero. c measures how long things take.
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
	}
	m.registry.MustRegister(m.requests, m.provider,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts an answered request. route is the template of its path, empty
// for one that no route has.
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// ProviderCall begins the count of a call to the payment provider; the function
// that it returns ends it.
func (m *Metrics) ProviderCall(operation string) func(outcome string) {
	start := m.clock.Now()
	return func(outcome string) {
		m.provider.WithLabelValues(operation, outcome).Observe(m.clock.Now().Sub(start).Seconds())
	}
}

// Sample is a figure that is asked for when the metrics are read.
type Sample struct {
	Name, Help string
	// Labels are fixed; nil for none. Samples of one name have the same keys.
	Labels map[string]string
	// Total says that the figure only grows.
	Total bool
}

// Read adds samples that are taken together by one function: values in the order
// of samples, or nil when they cannot be had now.
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

// Handler answers GET /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// reader is a group of samples as a collector.
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
