package catalog_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// BenchmarkPlans compares the public plans endpoint with a bare handler that writes the same bytes,
// over keep-alive loopback connections.
func BenchmarkPlans(b *testing.B) {
	s := newServer(b, dbtest.New(b, sqldb.SQLite))
	demo, err := pricelist.Demo()
	if err != nil {
		b.Fatal(err)
	}
	demo.Meters = nil // the server has no meters service
	if _, err := s.list.Apply(b.Context(), demo, false); err != nil {
		b.Fatal(err)
	}
	const path = "/api/v1/catalog/plans?currency=EUR"
	answer := []byte(body(b, s.get(b, path), 200))
	for name, h := range map[string]http.Handler{
		"service": s.api,
		"bare": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
		}),
	} {
		b.Run(name, func(b *testing.B) {
			srv := httptest.NewServer(h)
			defer srv.Close()
			client := srv.Client()
			client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					request(b, client, srv.URL+path)
				}
			})
		})
	}
}

func request(b *testing.B, client *http.Client, url string) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Error(err)
		return
	}
	answer, err := client.Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		b.Errorf("%d, %v", answer.StatusCode, err)
	}
	_ = answer.Body.Close()
}
