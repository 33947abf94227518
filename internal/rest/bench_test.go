package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
)

type event struct {
	Quantity       int64   `json:"quantity" minimum:"0"`
	IdempotencyKey string  `json:"idempotency_key" minLength:"1" maxLength:"255"`
	OccurredAt     *string `json:"occurred_at,omitempty" format:"date-time"`
}

type eventInput struct {
	Code string `path:"code" maxLength:"100"`
	Body event
}

const eventBody = `{"quantity":12,"idempotency_key":"0190a0b0-0000-7000-8000-00000000000a","occurred_at":"2026-01-31T08:15:30Z"}`

// BenchmarkPost measures a small authenticated POST through the whole layer, without the network.
func BenchmarkPost(b *testing.B) {
	cfg := config(b, io.Discard)
	cfg.Limiter = limited(map[string]int{limit.Usage: 1_000_000_000})
	api := rest.New(cfg, []rest.Route{{
		Method: "POST", Path: "/api/v1/usage/meters/{code}/events", Scope: rest.Tenant, Rate: limit.Usage, Summary: "Record",
		Handler: rest.Handle(func(_ context.Context, in *eventInput) (*rest.Data[event], error) { return rest.OK(in.Body), nil }, rest.Status(201)),
	}})
	benchmark(b, api)
}

// BenchmarkBarePost measures the same with only net/http and encoding/json.
func BenchmarkBarePost(b *testing.B) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/usage/meters/{code}/events", func(w http.ResponseWriter, r *http.Request) {
		var e event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			b.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": e})
	})
	benchmark(b, mux)
}

func benchmark(b *testing.B, h http.Handler) {
	b.Helper()
	header := http.Header{
		"Authorization": {"Bearer owner"}, "Content-Type": {"application/json"}, "Accept-Language": {"en-US,en;q=0.9"},
	}
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/api/v1/usage/meters/api/events", strings.NewReader(eventBody))
		if err != nil {
			b.Fatal(err)
		}
		req.Header = header
		w := &discard{header: http.Header{}}
		h.ServeHTTP(w, req)
		if w.status != http.StatusCreated {
			b.Fatal(w.status)
		}
	}
}

type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
