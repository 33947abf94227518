package tracing

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// env returns a getenv function for name=value pairs.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// The variables set the address, headers and compression. An overloaded collector gets the spans
// again.
func TestCollector(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		text, err := io.ReadAll(body)
		var sent tracepb.TracesData
		if err != nil || proto.Unmarshal(text, &sent) != nil || sent.ResourceSpans[0].SchemaUrl != "one" {
			t.Errorf("%q: %v", text, err)
		}
		if r.URL.Path != "/otlp/v1/traces" || r.Header.Get("Authorization") != "Basic a b" || r.Header.Get("X-Org") != "7" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %v", r.URL.Path, r.Header)
		}
	}))
	defer server.Close()
	c, err := newCollector(env("OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL+"/otlp/", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20a%20b, x-org = 7"))
	if err != nil {
		t.Fatal(err)
	}
	spans := []*tracepb.ResourceSpans{{SchemaUrl: "one"}}
	if err := c.UploadTraces(t.Context(), spans); err != nil || requests != 2 {
		t.Errorf("%d requests: %v", requests, err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// The URL for traces is used as it is, and a rejected request is not repeated.
func TestCollectorRejects(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Path != "/spans" {
			t.Error(r.URL.Path)
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer server.Close()
	c, err := newCollector(env("OTEL_EXPORTER_OTLP_ENDPOINT=http://other", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+server.URL+"/spans"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.UploadTraces(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "400") || requests != 1 {
		t.Errorf("%d requests: %v", requests, err)
	}
}

// An invalid value is an error that names its variable. It does not show headers, which can contain
// a password.
func TestCollectorVariables(t *testing.T) {
	t.Parallel()
	for _, pair := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=ftp://hush", "OTEL_EXPORTER_OTLP_HEADERS=hush",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS=a=%hush", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd", "OTEL_EXPORTER_OTLP_TIMEOUT=10s",
		"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere.pem", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/nowhere.pem",
	} {
		name, _, _ := strings.Cut(pair, "=")
		if _, err := newCollector(env(pair)); err == nil || !strings.HasPrefix(err.Error(), name+": ") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", pair, err)
		}
	}
}
