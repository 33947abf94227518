package settings

import (
	"cmp"
	"strings"
)

// traces reads whether traces are enabled, from the standard variables of OpenTelemetry.
// OpenTelemetry itself reads its other variables.
func (p *parser) traces(s *Settings) {
	exporter := p.getenv("OTEL_TRACES_EXPORTER")
	switch {
	case strings.EqualFold(p.getenv("OTEL_SDK_DISABLED"), "true"), exporter == "none":
		return
	case exporter == "otlp", exporter == "" && p.getenv("OTEL_EXPORTER_OTLP_ENDPOINT")+p.getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "":
	case exporter == "":
		return
	default:
		p.fail("OTEL_TRACES_EXPORTER", "%q is neither otlp nor none", exporter)
		return
	}
	protocol := cmp.Or(p.getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), p.getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if protocol != "http/protobuf" {
		p.fail("OTEL_EXPORTER_OTLP_PROTOCOL", "%q is not http/protobuf, the only supported protocol", protocol)
		return
	}
	s.Traces = true
}
