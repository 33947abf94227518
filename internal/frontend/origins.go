package frontend

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// FirstParty returns what reports whether a browser's Origin is the frontend's, that of another
// of hosts, reached by the frontend's scheme, or that of the service's own pages; own is nil if it
// has none. Only exactly these origins count: a page at http beside a frontend at https may be
// anybody's who sits on the network (rules: http#headers). ours reports whether an address is one
// of this machine's: in the sandbox every page at such an address is first-party, at any port. It
// is nil outside of the sandbox.
func FirstParty(frontend *url.URL, hosts []string, own *url.URL, ours func(netip.Addr) bool) func(origin string) bool {
	origins := []string{originOf(frontend.Scheme, frontend.Host)}
	for _, host := range hosts {
		origins = append(origins, originOf(frontend.Scheme, host))
	}
	if own != nil {
		origins = append(origins, originOf(own.Scheme, own.Host))
	}
	return func(origin string) bool {
		return slices.Contains(origins, strings.ToLower(origin)) || ours != nil && isAt(origin, ours)
	}
}

// isAt reports whether an origin is localhost or has an IP address that ours accepts.
func isAt(origin string, ours func(netip.Addr) bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || origin != u.Scheme+"://"+u.Host {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ours(addr.Unmap())
}

// ThisMachine returns a function that reports whether an address is a loopback address, or a
// private one on which a server with the listening address listens. Interfaces come and go, so it
// reads them at each call for a private address.
func ThisMachine(listening string) func(netip.Addr) bool {
	host, _, err := net.SplitHostPort(listening)
	only, errAddr := netip.ParseAddr(host)
	everywhere := err == nil && (host == "" || errAddr == nil && only.IsUnspecified())
	return func(addr netip.Addr) bool {
		switch {
		case addr.IsLoopback():
			return true
		case !addr.IsPrivate() && !addr.IsLinkLocalUnicast():
			return false
		case everywhere:
			return hasAddress(addr)
		}
		return errAddr == nil && only.Unmap() == addr
	}
}

// hasAddress reports whether a network interface has the address.
func hasAddress(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(one net.Addr) bool {
		prefix, err := netip.ParsePrefix(one.String())
		return err == nil && prefix.Addr().Unmap() == addr.WithZone("")
	})
}

// originOf returns an origin as browsers write it: in lower case, without the port that
// the scheme has anyway.
func originOf(scheme, host string) string {
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return strings.ToLower(scheme + "://" + host)
}
