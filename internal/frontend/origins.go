package frontend

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// FirstParty returns a function that reports whether an Origin header is first-party: the
// frontend's origin, one of hosts with the frontend's scheme, or the origin of the service's own
// pages. own is nil if the service does not serve pages. Only exact matches count: a page on http
// next to a frontend on https may come from an attacker on the network (rules: http#headers). ours
// is nil outside the sandbox. In the sandbox, ours reports whether an address belongs to this
// machine. All pages at such addresses are first-party, on any port.
func FirstParty(frontend *url.URL, hosts []string, own *url.URL, ours func(netip.Addr) bool) func(origin string) bool {
	origins := []string{originOf(frontend.Scheme, frontend.Host)}
	for _, host := range hosts {
		origins = append(origins, originOf(frontend.Scheme, host))
	}
	if own != nil {
		origins = append(origins, originOf(own.Scheme, own.Host))
	}
	return func(origin string) bool {
		return slices.Contains(origins, strings.ToLower(origin)) || ours != nil && isLocalOrigin(origin, ours)
	}
}

// isLocalOrigin reports whether the host of an origin is localhost or an IP address that ours accepts.
func isLocalOrigin(origin string, ours func(netip.Addr) bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || origin != u.Scheme+"://"+u.Host {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ours(addr.Unmap())
}

// ThisMachine returns a function that reports whether an address is a loopback address, or a
// private address on which a server with the listening address is reachable. It reads the network
// interfaces at each call for a private address, because they can change.
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

// originOf returns an origin as sent by browsers: in lower case, without the default port of the
// scheme.
func originOf(scheme, host string) string {
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return strings.ToLower(scheme + "://" + host)
}
