package safehttp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// reserved lists the networks that Go considers global unicast but that are not part of the public
// internet (IANA special-purpose address registries).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
	netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation
	netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"), // documentation
	netip.MustParsePrefix("203.0.113.0/24"),  // documentation
	netip.MustParsePrefix("240.0.0.0/4"),     // future use, broadcast
	netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // 6to4, which embeds IPv4 addresses
	netip.MustParsePrefix("3fff::/20"),       // documentation
}

// globalIPv6 is the only part of IPv6 that is assigned to the public internet. The networks that
// embed IPv4 addresses (::ffff:0:0/96, 64:ff9b::/96) are outside of it.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// isPublic reports whether an address is on the public internet. It treats an IPv4-mapped IPv6
// address as IPv4.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	if addr.Is6() && !globalIPv6.Contains(addr) {
		return false
	}
	return !isInNetworks(addr, reserved)
}

func isInNetworks(addr netip.Addr, networks []netip.Prefix) bool {
	for _, network := range networks {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// checkAddress returns ErrForbidden for an address that is neither open nor exempt.
func checkAddress(address string, open func(netip.Addr) bool, exempt []netip.Prefix) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	if open(to.Addr()) || isInNetworks(to.Addr().Unmap(), exempt) {
		return nil
	}
	return fmt.Errorf("%w: %s is not a public address, or the URL does not use https", ErrForbidden, to.Addr())
}

// CheckHost returns ErrForbidden if the host of a URL is an address that is neither public nor
// exempt, a name of this machine, or a number, because some systems interpret numbers as addresses.
// Other names are resolved only when a connection is made.
func CheckHost(host string, exempt []netip.Prefix) error {
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		name = "127.0.0.1"
	}
	if addr, err := netip.ParseAddr(name); err == nil {
		if isPublic(addr) || isInNetworks(addr.Unmap(), exempt) {
			return nil
		}
		return fmt.Errorf("%w: %s is not a public address", ErrForbidden, addr)
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "" {
		return fmt.Errorf("%w: the host is a number", ErrForbidden)
	}
	return nil
}

// Redact returns a URL for logs: its scheme, its host, and a digest that distinguishes URLs. Paths
// and queries often contain secrets of the receiver.
func Redact(text string) string {
	sum := sha256.Sum256([]byte(text))
	digest := "#sha256-" + hex.EncodeToString(sum[:8])
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return digest
	}
	return u.Scheme + "://" + u.Host + "/" + digest
}
