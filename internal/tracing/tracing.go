// Package tracing creates spans for requests, queries, calls to the payment provider and jobs, and
// exports them to a collector over OTLP/HTTP. A nil Tracer creates no spans and costs nothing.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// parent is the W3C header with the parent span of a request.
const parent = "traceparent"

// Tracer creates spans. It is safe for concurrent use. A nil Tracer creates no spans.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns a Tracer that exports spans in the background. The OTEL_* environment variables, which
// getenv reads, configure the endpoint, the sampling and the service name. If the collector is unreachable, spans
// are lost and a warning is logged, but requests are not delayed.
func New(ctx context.Context, version string, getenv func(name string) string, log *slog.Logger) (*Tracer, error) {
	client, err := newCollector(getenv)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "tenantry"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OpenTelemetry: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("failed to send traces", "error", err)
	}))
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracer{provider: p, tracer: p.Tracer("github.com/tenantry/tenantry")}, nil
}

// Close exports the remaining spans until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Request starts the span of a request, as a child of the caller's span if it has one. The returned
// function ends the span. route is the template of the path, or "" if no route matched.
func (t *Tracer) Request(r *http.Request, method string) (context.Context, func(route string, status int)) {
	if t == nil {
		return r.Context(), func(string, int) {}
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", method)))
	return ctx, func(route string, status int) {
		if route != "" {
			span.SetName(method + " " + route)
			span.SetAttributes(attribute.String("http.route", route))
		}
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Query starts the span of an SQL statement if ctx has a recording span, so statements of pollers
// are not traced. database is the type of the database. The returned function ends the span. The
// span has neither the statement nor the error text, because they can contain values.
func (t *Tracer) Query(ctx context.Context, database, text string) (context.Context, func(failed bool)) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, doNothing
	}
	name := QueryName(text)
	ctx, span := t.tracer.Start(ctx, "sql "+name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", database), attribute.String("db.query.summary", name)))
	return ctx, func(failed bool) { endSpan(span, failed) }
}

// QueryName returns the name of a generated query, or else the first word of the statement.
func QueryName(text string) string {
	if named, ok := strings.CutPrefix(text, "-- name: "); ok {
		name, _, _ := strings.Cut(named, " ")
		return name
	}
	word := strings.Fields(text)
	if len(word) == 0 {
		return "?"
	}
	return strings.ToUpper(word[0])
}

// Call starts the span of a call to another service. The returned function ends the span. The
// outcome "answered" is a success.
func (t *Tracer) Call(ctx context.Context, service, operation string) (context.Context, func(outcome string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	ctx, span := t.tracer.Start(ctx, service+" "+operation, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("peer.service", service)))
	return ctx, func(outcome string) {
		span.SetAttributes(attribute.String("outcome", outcome))
		endSpan(span, outcome != "answered")
	}
}

// Job starts the span of a job run, as a child of the span that enqueued the job. origin is the
// stored result of Origin, or "". The returned function ends the span. The outcome "done" is a
// success.
func (t *Tracer) Job(ctx context.Context, kind, origin string, attempt int) (context.Context, func(outcome string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{parent: origin})
	ctx, span := t.tracer.Start(ctx, "job "+kind, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(attribute.String("job.kind", kind), attribute.Int("job.attempt", attempt)))
	return ctx, func(outcome string) {
		span.SetAttributes(attribute.String("outcome", outcome))
		endSpan(span, outcome != "done")
	}
}

// Origin returns the span of ctx as a string to store with work that runs later, or "" without a
// span.
func Origin(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[parent]
}

// ID returns the trace ID of ctx if it is sampled, or "".
func ID(ctx context.Context) string {
	if s := trace.SpanContextFromContext(ctx); s.IsSampled() {
		return s.TraceID().String()
	}
	return ""
}

// IDs returns the trace ID and the span ID of ctx, sampled or not. ok is false without a span.
func IDs(ctx context.Context) (traceID, spanID string, ok bool) {
	s := trace.SpanContextFromContext(ctx)
	if !s.IsValid() {
		return "", "", false
	}
	return s.TraceID().String(), s.SpanID().String(), true
}

func doNothing(bool) {}

func endSpan(span trace.Span, failed bool) {
	if failed {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
