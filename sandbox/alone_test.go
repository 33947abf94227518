package sandbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The dashboard's form moves the clock and redirects to the referring page, but never to another
// site.
func TestStandaloneProviderClock(t *testing.T) {
	t.Parallel()
	w := world(t)
	handler := w.ProviderHandler(provider, "pay.example.test")
	for _, c := range []struct {
		host, body, back string
		status           int
	}{
		{"127.0.0.1", "advance=24h&back=dashboard", "/sandbox/dashboard", 303},
		{"pay.example.test", "advance=24h", "/sandbox", 303},
		{"localhost", "advance=24h&back=https%3A%2F%2Fevil.example.test", "/sandbox", 303},
		{"127.0.0.1", "advance=-24h&back=dashboard", "", 422},
		{"evil.example.test", "advance=24h", "", 421},
	} {
		before := w.Clock().Now()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.host+"/sandbox/clock", strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, r)
		moved := w.Clock().Now().Sub(before)
		if got.Code != c.status || got.Header().Get("Location") != c.back || (moved == 24*time.Hour) != (c.status == 303) {
			t.Errorf("%s at %s returns %d for %q and moves by %s", c.body, c.host, got.Code, got.Header().Get("Location"), moved)
		}
	}
	for path, want := range map[string]string{"/v1/customers": "provider /v1/customers", "/v2/core/events/evt_1": "provider /v2/core/events/evt_1", "/sandbox/dashboard": "provider /sandbox/dashboard"} {
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil))
		if got.Body.String() != want {
			t.Errorf("%s answers %q", path, got.Body)
		}
	}
}
