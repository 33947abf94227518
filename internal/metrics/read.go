package metrics

import "github.com/prometheus/client_golang/prometheus"

// Family describes a metric that is computed when the metrics are read.
type Family struct {
	Name, Help string
	// Labels are the names of its labels.
	Labels []string
	// Total marks a counter, whose value never decreases.
	Total bool
}

// Put sets a value of a family, given its label values. It panics if the family is unknown.
type Put func(name string, value float64, labels ...string)

// RegisterComputed registers families that a single function computes each time the metrics are read. Values
// that the function does not put are absent from that read.
func (m *Metrics) RegisterComputed(families []Family, read func(put Put)) {
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
