package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// The console says that payments are simulated if a sandbox replaces the payment provider
// (serve --stripe-url), and only then.
func TestPracticeModeIsShown(t *testing.T) {
	t.Parallel()
	here, provider := &url.URL{Scheme: "http", Host: "127.0.0.1:8080"}, &url.URL{Scheme: "http", Host: "127.0.0.1:12111"}
	for _, at := range []*url.URL{nil, provider} {
		s := settings.Settings{PublicURL: here, FrontendURL: here, StripeURL: at}
		svc, err := newService(s, dbtest.New(t, sqldb.SQLite), environment{
			clock: clock.System(), pspKey: "sk_test_unused", webhookSecrets: []string{"unused"},
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		svc.api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sign-in", nil))
		if is := strings.Contains(w.Body.String(), `<meta name="practice" content="on" />`); w.Code != http.StatusOK || is != (at != nil) {
			t.Errorf("with the provider %v: %d, practice %t", at, w.Code, is)
		}
	}
}
