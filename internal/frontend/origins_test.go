package frontend_test

import (
	"net"
	"net/netip"
	"net/url"
	"testing"

	"github.com/tenantry/tenantry/internal/frontend"
)

// Only the origins of the frontend, of the additional hosts and of the service's own pages are
// first-party. In the sandbox, all pages of this machine are first-party.
func TestFirstParty(t *testing.T) {
	t.Parallel()
	app, api := &url.URL{Scheme: "https", Host: "App.example.com:443"}, &url.URL{Scheme: "https", Host: "api.example.com"}
	served := frontend.FirstParty(app, []string{"admin.example.com:8443"}, api, nil)
	alone := frontend.FirstParty(app, nil, nil, nil)
	sandbox := frontend.FirstParty(&url.URL{Scheme: "http", Host: "127.0.0.1:8080"}, nil, nil, frontend.ThisMachine("127.0.0.1:8080"))
	for origin, want := range map[string][3]bool{ // with own pages, without, in the sandbox
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
		"http://192.168.1.5:8080":        {},
		"https://127.0.0.1":              {false, false, true},
		"http://127.0.0.1.evil.test":     {},
		"null":                           {},
		"":                               {},
	} {
		if got := [3]bool{served(origin), alone(origin), sandbox(origin)}; got != want {
			t.Errorf("%q: %v, want %v", origin, got, want)
		}
	}
}

// A sandbox accepts only the private addresses on which it listens.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddr
	one := frontend.ThisMachine("192.168.1.5:8080")
	for addr, want := range map[string]bool{"192.168.1.5": true, "127.0.0.1": true, "::1": true, "192.168.1.6": false, "203.0.113.5": false} {
		if got := one(at(addr)); got != want {
			t.Errorf("listening on 192.168.1.5: %s is %t", addr, got)
		}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, listening := range []string{":8080", "0.0.0.0:8080", "[::]:8080"} {
		everywhere := frontend.ThisMachine(listening)
		for _, one := range all {
			if addr := netip.MustParsePrefix(one.String()).Addr().Unmap(); addr.IsPrivate() != everywhere(addr) && !addr.IsLoopback() && !addr.IsLinkLocalUnicast() {
				t.Errorf("listening on %s: %s is %t", listening, addr, everywhere(addr))
			}
		}
		if everywhere(at("10.255.255.254")) || !everywhere(at("127.0.0.1")) {
			t.Errorf("listening on %s: an address of another machine counts, or a loopback address does not", listening)
		}
	}
}
