package metrics

import "github.com/prometheus/client_golang/prometheus"

// Family describes a metric that is computed when the metrics are read.
type Family struct {
	Name, Help string
	// Labels are the names of its labels; nil for none.
	Labels []string
	// Total marks a counter, whose value only grows.
	Total bool
}

// Put gives a value of a family, with a value of each of its labels. It panics on a name
// that is not among the families.
type Put func(name string, value float64, labels ...string)

// Read adds families that one function computes together each time that the metrics are
// read. What it does not put, because there is none or it cannot be read, is absent then.
func (m *Metrics) Read(families []Family, read func(put Put)) {
	r := &reader{read: read, families: map[string]family{}}
	for _, f := range families {
		kind := prometheus.GaugeValue
		if f.Total {
			kind = prometheus.CounterValue
		}
		r.families[f.Name] = family{prometheus.NewDesc(f.Name, f.Help, f.Labels, nil), kind}
	}
	m.registry.MustRegister(r)
}

type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// reader is a prometheus.Collector of families that are computed together.
type reader struct {
	families map[string]family
	read     func(put Put)
}

// Describe implements prometheus.Collector.
func (r *reader) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range r.families {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (r *reader) Collect(ch chan<- prometheus.Metric) {
	r.read(func(name string, value float64, labels ...string) {
		f, ok := r.families[name]
		if !ok {
			panic("metrics: no family " + name)
		}
		ch <- prometheus.MustNewConstMetric(f.desc, f.kind, value, labels...)
	})
}
