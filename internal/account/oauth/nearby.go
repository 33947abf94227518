package oauth

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// MatchLoopbackName replaces the host name of a loopback address with the loopback name that the
// browser uses. Cookies of localhost and 127.0.0.1 are separate, so a login that starts under one
// name and ends under the other would lose its cookie. Other addresses are returned unchanged.
func MatchLoopbackName(address, host string) string {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	u, err := url.Parse(address)
	if err != nil || !isLoopback(name) || !isLoopback(u.Hostname()) || name == u.Hostname() {
		return address
	}
	port := u.Port()
	u.Host = name
	if strings.Contains(name, ":") {
		u.Host = "[" + name + "]"
	}
	if port != "" {
		u.Host = net.JoinHostPort(name, port)
	}
	return u.String()
}

// Callbacks returns the redirect URIs of a provider. It is a single URI, except on a developer's
// machine, where each loopback name has a URI.
func Callbacks(publicURL, provider string) []string {
	own := publicURL + Path + provider + "/callback"
	all := []string{own}
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if other := MatchLoopbackName(own, name); other != own {
			all = append(all, other)
		}
	}
	return all
}

// isLoopback reports whether a host name refers to this machine.
func isLoopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}
