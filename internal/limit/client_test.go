package limit_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/tenantry/tenantry/internal/limit"
)

func TestClientIP(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("2001:db8:ffff::/48"),
	}
	const proxy = "10.0.0.1:4000"
	tests := map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"nobody between":                      {"192.0.2.7:1234", nil, "192.0.2.7"},
		"a stranger's header does not count":  {"192.0.2.7:1234", []string{"198.51.100.1"}, "192.0.2.7"},
		"a proxy without the header":          {proxy, nil, "10.0.0.1"},
		"behind a proxy":                      {proxy, []string{"192.0.2.7"}, "192.0.2.7"},
		"behind two proxies":                  {proxy, []string{"192.0.2.7, 10.0.0.2"}, "192.0.2.7"},
		"two header lines":                    {proxy, []string{"192.0.2.7", "10.0.0.2,10.0.0.3"}, "192.0.2.7"},
		"a forged first line":                 {proxy, []string{"198.51.100.1", "192.0.2.7"}, "192.0.2.7"},
		"a forged left end":                   {proxy, []string{"198.51.100.1, 192.0.2.7, 10.0.0.2"}, "192.0.2.7"},
		"a forged trusted left end":           {proxy, []string{"10.0.0.9, 192.0.2.7"}, "192.0.2.7"},
		"only proxies":                        {proxy, []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"an invalid address":                  {proxy, []string{"192.0.2.7, unknown, 10.0.0.2"}, "10.0.0.2"},
		"an empty header":                     {proxy, []string{""}, "10.0.0.1"},
		"an entry with a port":                {proxy, []string{"192.0.2.7:5555"}, "192.0.2.7"},
		"IPv6":                                {"[2001:db8:ffff::1]:80", []string{"2001:db8::7"}, "2001:db8::7"},
		"IPv6 in brackets":                    {proxy, []string{"[2001:db8::7]"}, "2001:db8::7"},
		"IPv6 with a port":                    {proxy, []string{"[2001:db8::7]:5555"}, "2001:db8::7"},
		"IPv4 written as IPv6 is trusted too": {"[::ffff:10.0.0.1]:80", []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
		"a proxy with a zone":                 {"[fe80::1%eth0]:80", []string{"192.0.2.7"}, "192.0.2.7"},
		"a socket without addresses":          {"@", []string{"192.0.2.7"}, "invalid IP"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = tt.peer
			for _, line := range tt.forwarded {
				r.Header.Add("X-Forwarded-For", line)
			}
			if got := limit.ClientIP(r, trusted).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAddrKey(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"192.0.2.7":            "192.0.2.7",
		"::ffff:192.0.2.7":     "192.0.2.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":  "2001:db8:1:2::/64",
		"2001:db8:1:3::":       "2001:db8:1:3::/64",
		"fe80::1%eth0":         "fe80::/64",
	} {
		if got := limit.AddrKey(netip.MustParseAddr(addr)); got != want {
			t.Errorf("AddrKey(%s) = %s, want %s", addr, got, want)
		}
	}
}
