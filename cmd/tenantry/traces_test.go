package main

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/sandbox"
)

// spans is an OpenTelemetry collector.
type spans struct {
	mu      sync.Mutex
	names   map[string][]string // by trace, in hexadecimal
	parents map[string]string   // by name, for the spans of a request
	service string
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent tracepb.TracesData // encoded like ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range sent.ResourceSpans {
		for _, a := range resource.Resource.Attributes {
			if a.Key == "service.name" {
				s.service = a.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				trace := hex.EncodeToString(span.TraceId)
				s.names[trace] = append(s.names[trace], span.Name)
				s.parents[span.Name] = hex.EncodeToString(span.ParentSpanId)
			}
		}
	}
}

// has reports whether a trace contains a span for each of the name prefixes.
func (s *spans) has(trace string, names ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if !slices.ContainsFunc(s.names[trace], func(n string) bool { return strings.HasPrefix(n, name) }) {
			return false
		}
	}
	return true
}

// A request, its queries and calls, and the jobs that it enqueues belong to the caller's trace. The
// log and the metrics contain the trace ID.
func TestTraces(t *testing.T) {
	t.Parallel()
	s := &spans{names: map[string][]string{}, parents: map[string]string{}}
	web := httptest.NewServer(s)
	defer web.Close()
	address := freeAddress(t)
	server := startWatched(t, append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(), "TENANTRY_LOG_FORMAT=json",
		"OTEL_EXPORTER_OTLP_ENDPOINT="+web.URL, "OTEL_BSP_SCHEDULE_DELAY=20", "OTEL_SERVICE_NAME=shop"), address)
	base := "http://" + address
	c := &client{t: t, http: &http.Client{}}
	owner, tenant := c.logIn(base+"/api/v1", sandbox.OwnerEmail, sandbox.OwnerPassword)
	const caller = "00f067aa0ba902b7"
	post := func(trace, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/v1"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+owner)
		r.Header.Set("Traceparent", "00-"+trace+"-"+caller+"-01")
		r.Header.Set("X-Request-Id", "of-"+trace)
		resp, err := c.http.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode/100 != 2 {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	forgotten, canceled := strings.Repeat("a", 32), strings.Repeat("b", 32)
	post(forgotten, "/auth/forgot-password", `{"email":"`+sandbox.OwnerEmail+`"}`)
	apptest.Eventually(t, "the trace of a request with jobs", func() bool {
		return s.has(forgotten, "POST /api/v1/auth/forgot-password", "sql Insert", "job account.forgot", "job mail.send")
	})
	post(canceled, "/tenant/"+tenant+"/subscription/cancel", "")
	apptest.Eventually(t, "the trace of a request with calls", func() bool {
		return s.has(canceled, "POST /api/v1/tenant/{tenantId}/subscription/cancel", "sql ", "stripe ")
	})
	s.mu.Lock()
	if got := s.parents["POST /api/v1/auth/forgot-password"]; got != caller || s.service != "shop" {
		t.Errorf("the request belongs to %q of the service %q", got, s.service)
	}
	s.mu.Unlock()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	resp, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if _ = resp.Body.Close(); err != nil || !strings.Contains(string(text), `# {trace_id="`+canceled+`"}`) {
		t.Errorf("no request has an exemplar with its trace (%v)", err)
	}
	server.stop(t)
	for _, want := range []string{`"request_id":"of-` + forgotten + `","trace_id":"` + forgotten + `","span_id":"`, `"took_ms":`} {
		if !strings.Contains(server.stderr.String(), want) {
			t.Errorf("log does not contain %s", want)
		}
	}
}

// Without a reachable collector, only the spans are lost.
func TestUnreachableTraceCollector(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	server := startWatched(t, append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(),
		"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+freeAddress(t), "OTEL_BSP_SCHEDULE_DELAY=20"), address)
	c := &client{t: t, http: &http.Client{Timeout: time.Minute}}
	if token, _ := c.logIn("http://"+address+"/api/v1", sandbox.OwnerEmail, sandbox.OwnerPassword); token == "" {
		t.Error("no login")
	}
	server.stop(t)
}
