package tracing_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/tenantry/tenantry/internal/tracing"
)

// spanned is a context in a span of others.
func spanned(t *testing.T) context.Context {
	t.Helper()
	return trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled,
	}))
}

const traceOf, spanOf = "01000000000000000000000000000000", "0200000000000000"

// Without a tracer nothing is traced, and nothing is asked of who uses it.
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
			t.Error("there is a trace")
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

// Each line has the request and the trace of its context, after what it says itself, and no
// more than there is.
func TestLogHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(tracing.LogHandler(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}})))
	log.Info("none", "a", 1)
	request := tracing.WithRequest(t.Context(), "r1")
	log.InfoContext(request, "request", "a", 1)
	log.With("b", 2).InfoContext(tracing.WithRequest(spanned(t), "r2"), "both")
	log.WithGroup("g").InfoContext(spanned(t), "group", "c", 3)
	want := `msg=none a=1
msg=request a=1 request_id=r1
msg=both b=2 request_id=r2 trace_id=` + traceOf + ` span_id=` + spanOf + `
msg=group g.c=3 g.trace_id=` + traceOf + ` g.span_id=` + spanOf + "\n"
	if got := out.String(); got != want {
		t.Errorf("%s", strings.TrimSpace(got))
	}
	if tracing.RequestID(request) != "r1" || tracing.RequestID(t.Context()) != "" {
		t.Error("the id of a request is lost")
	}
}
