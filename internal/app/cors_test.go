package app_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Only the exact origin of the frontend, and other first-party hosts with the same scheme, can send
// credentials through CORS and use cookie mode.
func TestOriginsAreExact(t *testing.T) {
	t.Parallel()
	frontend := func(address string, hosts ...string) apptest.Option {
		return func(s *settings.Settings) {
			s.FrontendURL, _ = url.Parse(address)
			s.FirstPartyHosts = hosts
		}
	}
	for name, c := range map[string]struct {
		option     apptest.Option
		ours, evil []string
	}{
		"https": {
			frontend("https://App.example.com", "console.example.com:443", "staff.example.com:8443"),
			[]string{"https://app.example.com", "https://console.example.com", "https://staff.example.com:8443"},
			[]string{
				"http://app.example.com", "http://console.example.com", "http://staff.example.com:8443", "https://app.example.com:8443",
				"https://app.example.com.evil.example", "https://evil.app.example.com", "https://example.com", "https://app.example.com/",
				"https://app.example.com@evil.example", "https://evil@app.example.com", "null", "app.example.com", "ftp://app.example.com", "https://",
			},
		},
		"http": {
			frontend("http://localhost:3000"),
			[]string{"http://localhost:3000", "http://localhost", "http://localhost:3001", "http://127.0.0.1:3000", "https://localhost:3000", "http://[::1]:5173"},
			[]string{"http://localhost.evil.example", "http://127.0.0.1.evil.example", "http://evil@localhost:3000", "http://localhost:3000/", "ftp://localhost", "http://192.168.1.7:3000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				login := func(header, origin string) apptest.Reply {
					r := s.NewRequest("POST", "/api/v1/auth/login", "", apptest.AdminLogin)
					r.Header.Set(header, origin)
					return s.Do(r)
				}
				preflight := func(origin string) apptest.Reply {
					r := s.NewRequest("OPTIONS", "/api/v1/auth/login", "", nil)
					r.Header.Set("Origin", origin)
					r.Header.Set("Access-Control-Request-Method", "POST")
					return s.Do(r)
				}
				for _, origin := range c.ours {
					a := login("Origin", origin).Want(419) // cookie mode without a CSRF token
					if a.Header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "X-CSRF-Token") || a.Header.Get("Access-Control-Allow-Credentials") != "true" {
						t.Errorf("%s: %v", origin, a.Header)
					}
					preflight(origin).Want(204)
					login("Referer", origin+"/login?x").Want(419)
				}
				for _, origin := range c.evil {
					a := login("Origin", origin).Want(200)
					if a.Header.Get("Access-Control-Allow-Origin") != "" || a.Header.Get("Access-Control-Allow-Credentials") != "" || a.Header.Get("Set-Cookie") != "" {
						t.Errorf("%s: %v", origin, a.Header)
					}
					preflight(origin).Want(405)
				}
			}, c.option)
		})
	}
}
