package tracing

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans to a collector over OTLP/HTTP with protobuf. The exporter of OpenTelemetry
// would add gRPC and its gateway to the program, which OTLP/HTTP does not use.
type collector struct {
	url     string
	headers http.Header
	gzip    bool
	http    *http.Client
}

const (
	otlpTimeout  = 10 * time.Second // default time limit of a request
	otlpAttempts = 5                // requests per batch of spans while the collector is overloaded
)

// newCollector reads the variables of OpenTelemetry's OTLP exporter. getenv returns the value of a
// variable. newCollector returns an error that names a variable with an invalid value.
func newCollector(getenv func(name string) string) (*collector, error) {
	env := func(name string) (variable, value string) {
		for _, variable = range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
			if value = getenv(variable); value != "" {
				break
			}
		}
		return variable, value
	}
	address, err := endpoint(getenv)
	if err != nil {
		return nil, err
	}
	c := &collector{url: address, headers: http.Header{"Content-Type": {"application/x-protobuf"}}}
	variable, list := env("HEADERS")
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, fmt.Errorf("%s: not of the form name=value,name=value", variable) // the value can be a secret
		}
		c.headers.Set(strings.TrimSpace(name), value)
	}
	switch variable, value := env("COMPRESSION"); value {
	case "", "none":
	case "gzip":
		c.gzip = true
		c.headers.Set("Content-Encoding", "gzip")
	default:
		return nil, fmt.Errorf("%s: %q is neither gzip nor none", variable, value)
	}
	timeout := otlpTimeout
	if variable, value := env("TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("%s: %q is not a number of milliseconds", variable, value)
		}
		timeout = time.Duration(ms) * time.Millisecond
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if transport.TLSClientConfig, err = tlsConfig(env); err != nil {
		return nil, err
	}
	c.http = &http.Client{Timeout: timeout, Transport: transport}
	return c, nil
}

// endpoint returns the URL that spans are sent to.
func endpoint(getenv func(string) string) (string, error) {
	variable, address := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if address == "" {
		variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
		address = strings.TrimRight(cmp.Or(getenv(variable), "http://localhost:4318"), "/") + "/v1/traces"
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s: not an http:// or https:// URL", variable)
	}
	return address, nil
}

// tlsConfig returns the certificates of the variables, or nil to use the system's.
func tlsConfig(env func(name string) (variable, value string)) (*tls.Config, error) {
	ca, roots := env("CERTIFICATE")
	cert, certFile := env("CLIENT_CERTIFICATE")
	_, keyFile := env("CLIENT_KEY")
	if roots == "" && certFile == "" && keyFile == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if roots != "" {
		text, err := os.ReadFile(roots)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ca, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s contains no certificate", ca, roots)
		}
	}
	if certFile != "" || keyFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cert, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Start implements otlptrace.Client. The first batch connects.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It repeats a request that an overloaded collector
// rejects, until ctx ends.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // encoded like ExportTraceServiceRequest
	if err != nil {
		return err
	}
	if c.gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body) // a buffer does not fail
		_ = w.Close()
		body = packed.Bytes()
	}
	for attempt := 1; ; attempt++ {
		pause, err := c.send(ctx, body)
		if err == nil || pause == 0 || attempt == otlpAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause << (attempt - 1)):
		}
	}
}

// send makes one request. pause is how long to wait before another one, or 0 if that is pointless.
func (c *collector) send(ctx context.Context, body []byte) (pause time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header = c.headers.Clone()
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be reused
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		pause = time.Duration(max(seconds, 1)) * time.Second
	}
	if resp.StatusCode/100 != 2 {
		return pause, fmt.Errorf("the collector responded with status %d", resp.StatusCode)
	}
	return 0, nil
}
