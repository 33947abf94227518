package limit

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientIP returns the client address of a request. It is the peer of the connection, unless the
// peer is a trusted proxy. In that case it is the last address in X-Forwarded-For that is not a
// trusted proxy. Addresses to its left are ignored, because the client could have forged them, and
// so are addresses to the left of an invalid one. If all addresses are trusted proxies, the first
// one is the client.
//
// It returns the zero Addr if the connection has no IP address.
func ClientIP(r *http.Request, trusted []netip.Prefix) netip.Addr {
	client, ok := parseAddr(r.RemoteAddr)
	if !ok || !isTrusted(client, trusted) {
		return client
	}
	headers := r.Header.Values("X-Forwarded-For")
	for i := len(headers) - 1; i >= 0; i-- {
		for rest, more := headers[i], true; more; {
			var entry string
			rest, entry, more = cutLast(rest)
			addr, ok := parseAddr(strings.TrimSpace(entry))
			if !ok {
				return client
			}
			client = addr
			if !isTrusted(addr, trusted) {
				return client
			}
		}
	}
	return client
}

// AddrKey returns the rate limit key of an address: the IPv4 address, or the /64 network of an IPv6
// address. An IPv6 client usually has a whole /64 network and could otherwise evade its limit by
// changing addresses.
func AddrKey(addr netip.Addr) string {
	if addr.Is6() && !addr.Is4In6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.Unmap().String()
}

// cutLast slices s around its last comma. more reports whether it has one.
func cutLast(s string) (before, last string, more bool) {
	if i := strings.LastIndexByte(s, ','); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

// parseAddr parses an address with or without a port. It converts an IPv4-mapped IPv6 address to
// IPv4.
func parseAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return addr.Unmap(), err == nil
}

func isTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	addr = addr.WithZone("") // prefixes never contain an address with a zone
	for _, prefix := range trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
