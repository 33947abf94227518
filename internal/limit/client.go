package limit

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientIP is the address of the client that a request comes from. The peer of
// the connection counts, unless it is a trusted proxy: then X-Forwarded-For is
// read from its right end, where the nearest proxy wrote, and the first address
// that is no trusted proxy is the client. What lies left of it could be forged
// by the client and is never looked at; neither is anything left of an entry
// that is no address. Of nothing but trusted proxies the leftmost is the client.
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

// AddrKey is the key under which an address is limited: an IPv4 address itself,
// of an IPv6 address its /64 network. One IPv6 client commonly owns a whole /64,
// and by choosing addresses in it could otherwise have any number of limits.
func AddrKey(addr netip.Addr) string {
	if addr.Is6() && !addr.Is4In6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return addr.Unmap().String()
}

// cutLast splits off what follows the last comma.
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
