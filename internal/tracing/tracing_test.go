package tracing_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/tenantry/tenantry/internal/tracing"
)

// spanned returns a context with a remote span.
func spanned(t *testing.T) context.Context {
	t.Helper()
	return trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	}))
}

const traceOf, spanOf = "01000000000000000000000000000000", "0200000000000000"

// All methods work on a nil Tracer and create no spans.
func TestNoTracer(t *testing.T) {
	t.Parallel()
	var tracer *tracing.Tracer
	ctx := t.Context()
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	r.Header.Set("Traceparent", "00-"+traceOf+"-"+spanOf+"-01")
	request, endRequest := tracer.Request(r, "GET")
	query, endQuery := tracer.Query(ctx, "sqlite", "SELECT 1")
	call, endCall := tracer.Call(ctx, "stripe", "read price")
	job, endJob := tracer.Job(ctx, "mail.send", "00-"+traceOf+"-"+spanOf+"-01", 1)
	endRequest("/", 200)
	endQuery(false)
	endCall("answered")
	endJob("done")
	for _, one := range []context.Context{request, query, call, job} {
		if tracing.ID(one) != "" || tracing.Origin(one) != "" {
			t.Error("got a trace, want none")
		}
	}
	if err := tracer.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	ctx := spanned(t)
	if got := tracing.ID(ctx); got != traceOf {
		t.Errorf("id %s", got)
	}
	if got := tracing.Origin(ctx); got != "00-"+traceOf+"-"+spanOf+"-01" {
		t.Errorf("origin %s", got)
	}
	unsampled := trace.ContextWithRemoteSpanContext(ctx, trace.SpanContextFromContext(ctx).WithTraceFlags(0))
	if got := tracing.ID(unsampled); got != "" {
		t.Errorf("a trace that is not recorded has the id %s", got)
	}
}

func TestQueryName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-- name: InsertKeyed :exec\nINSERT": "InsertKeyed", "\n\tupdate jobs SET x": "UPDATE", "": "?",
	} {
		if got := tracing.QueryName(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
