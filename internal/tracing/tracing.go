// Package tracing makes spans of requests, queries, calls to the payment provider and jobs,
// and sends them to a collector by OpenTelemetry's protocol (OTLP) over HTTP. A nil Tracer
// makes none, at no cost.
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
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// parent is the header of W3C that names the span which a request belongs to.
const parent = "traceparent"

// Tracer makes spans. It is safe for concurrent use, and nil is one that makes none.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns a tracer that sends its spans in the background. Where to, which of them, and
// under which name the library reads from the environment (OTEL_*). A collector that cannot
// be reached costs the spans and a warning in the log, and delays nothing.
func New(ctx context.Context, version string, log *slog.Logger) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx)
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
		log.Warn("traces could not be sent", "error", err)
	}))
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracer{provider: p, tracer: p.Tracer("github.com/tenantry/tenantry")}, nil
}

// Close sends what was not sent yet, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Request begins the span of a request, within the trace of its caller if there is one. The
// function that it returns ends the span; route is the template of the path, "" where there
// is no route.
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

// Query begins the span of an SQL statement, if it is a part of something that is traced:
// what polls is not. database is the kind of database. The function that it returns ends the
// span. Neither the statement's text nor an error's, which may have values in them, is told.
func (t *Tracer) Query(ctx context.Context, database, text string) (context.Context, func(failed bool)) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, doNothing
	}
	name := QueryName(text)
	ctx, span := t.tracer.Start(ctx, "sql "+name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", database), attribute.String("db.query.summary", name)))
	return ctx, func(failed bool) { endSpan(span, failed) }
}

// QueryName returns the name that a generated query's text begins with, else the first word
// of the statement.
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

// Call begins the span of a call to another service. The function that it returns ends the
// span; the outcome "answered" is a success.
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

// Job begins the span of a run of a job, within the trace of whoever enqueued it: origin is
// what Origin returned there, "" for none. The function that it returns ends the span; the
// outcome "done" is a success.
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

// Origin returns what ties later work to the span of ctx, to be stored with it; "" without a
// span.
func Origin(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[parent]
}

// ID returns the id of the trace of ctx if it is recorded, else "".
func ID(ctx context.Context) string {
	if s := trace.SpanContextFromContext(ctx); s.IsSampled() {
		return s.TraceID().String()
	}
	return ""
}

// IDs returns the IDs of the trace and the span of ctx, sampled or not; ok is false without a span.
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
