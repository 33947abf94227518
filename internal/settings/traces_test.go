package settings_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
)

// Traces are enabled by OpenTelemetry's variables, and only with the supported protocol.
func TestTraces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env    string // name=value pairs, separated by spaces
		traces bool
		wrong  string // the name of the wrong variable
	}{
		{"", false, ""},
		{"OTEL_SERVICE_NAME=shop", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318", true, ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://collector:4318/v1/traces", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp", true, ""},
		{"OTEL_TRACES_EXPORTER=none OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318", false, ""},
		{"OTEL_SDK_DISABLED=TRUE OTEL_TRACES_EXPORTER=otlp", false, ""},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", true, ""},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc", false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{"OTEL_TRACES_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf", true, ""},
		{"OTEL_TRACES_EXPORTER=zipkin", false, "OTEL_TRACES_EXPORTER"},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		s, err := settings.DevFlags{}.Settings(func(name string) string { return env[name] })
		if s.Traces != c.traces || (err == nil) != (c.wrong == "") || err != nil && !strings.HasPrefix(err.Error(), c.wrong+": ") {
			t.Errorf("%s: %v %v", c.env, s.Traces, err)
		}
	}
}
