package limit

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientIP returns the address of the client that a request comes from. That is the
// peer of the connection, unless the peer is a trusted proxy. Then X-Forwarded-For is
// read from its right end, where the nearest proxy wrote, and the first address that
// is no trusted proxy is the client. The client could forge what is left of it, so
// that is ignored, as is everything left of an entry that is no address. If all are
// trusted proxies, the leftmost is the client.
//
// The zero Addr is returned when the connection has no IP address.
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

// AddrKey returns the key by which an address is limited: an IPv4 address itself, the
// /64 network of an IPv6 address. An IPv6 client commonly owns a whole /64, and could
// otherwise evade its limit by changing addresses.
func AddrKey(addr netip.Addr) string {
	if addr.Is6() && !addr.Is4In6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.Unmap().String()
}

// cutLast returns what is before and after the last comma.
func cutLast(s string) (before, last string, more bool) {
	if i := strings.LastIndexByte(s, ','); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}

// parseAddr reads an address with or without a port. An IPv4 address that is
// written as IPv6 is the IPv4 address.
func parseAddr(s string) (netip.Addr, bool) {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap(), true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return addr.Unmap(), err == nil
}

func isTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	addr = addr.WithZone("") // a prefix never contains an address with a zone
	for _, prefix := range trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}
