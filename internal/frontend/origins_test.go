package frontend_test

import (
	"net/url"
	"testing"

	"github.com/tenantry/tenantry/internal/frontend"
)

// Only the origins of the frontend, of the hosts beside it and of the service's own pages are
// first-party; in the sandbox every page of this machine is.
func TestFirstParty(t *testing.T) {
	t.Parallel()
	app, api := &url.URL{Scheme: "https", Host: "App.example.com:443"}, &url.URL{Scheme: "https", Host: "api.example.com"}
	served := frontend.FirstParty(app, []string{"admin.example.com:8443"}, api, false)
	alone := frontend.FirstParty(app, nil, nil, false)
	sandbox := frontend.FirstParty(&url.URL{Scheme: "http", Host: "127.0.0.1:8080"}, nil, nil, true)
	for origin, want := range map[string][3]bool{ // served, alone, in the sandbox
		"https://app.example.com":        {true, true, false},
		"https://APP.example.com":        {true, true, false},
		"https://admin.example.com:8443": {true, false, false},
		"https://api.example.com":        {true, false, false},
		"http://app.example.com":         {},
		"https://admin.example.com":      {},
		"https://evil.example.com":       {},
		"http://localhost:5173":          {false, false, true},
		"http://127.0.0.1:8080":          {false, false, true},
		"http://[::1]:3000":              {false, false, true},
		"http://localhost.evil.test":     {},
		"http://192.0.2.1":               {},
		"null":                           {},
		"":                               {},
	} {
		if got := [3]bool{served(origin), alone(origin), sandbox(origin)}; got != want {
			t.Errorf("%q: %v, want %v", origin, got, want)
		}
	}
}
