package oauth

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// matchLoopbackName returns an address of this machine under the name by which a browser calls it: the
// cookies of localhost and of 127.0.0.1 are not each other's, and a login that begins under one
// name would end under the other without its cookie. Any other address stays as it is.
func matchLoopbackName(address, host string) string {
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

// Callbacks returns where a provider may lead browsers back to: one address, and on a
// developer's machine the same under each of its names.
func Callbacks(publicURL, provider string) []string {
	own := publicURL + Path + provider + "/callback"
	all := []string{own}
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if other := matchLoopbackName(own, name); other != own {
			all = append(all, other)
		}
	}
	return all
}

// isLoopback reports whether a name is one of this machine's own.
func isLoopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}
