package settings

import (
	"cmp"
	"net"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// RelyingParty returns the relying party ID of passkeys (WebAuthn level 2, section 5.1.2): the ID
// in the settings, or else the host of the frontend. The ID must be this host or a registrable
// suffix of it. For an IP address the host counts as localhost, because browsers accept no IP
// address as an ID. The URLs of s must be set.
func (s Settings) RelyingParty() (string, error) {
	host := strings.ToLower(s.FrontendURL.Hostname())
	if net.ParseIP(host) != nil {
		host = "localhost"
	}
	id := strings.ToLower(cmp.Or(s.PasskeyRPID, host))
	if !isRegistrableSuffix(id, host) {
		return "", &Error{Name: "TENANTRY_PASSKEY_RP_ID", Reason: s.PasskeyRPID + " is neither " + host + " nor a registrable parent domain of it"}
	}
	return id, nil
}

// isRegistrableSuffix reports whether id is host, or a parent domain of host that is not a public
// suffix.
func isRegistrableSuffix(id, host string) bool {
	if id == host {
		return true
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(host)
	return err == nil && strings.HasSuffix(host, "."+id) && (id == domain || strings.HasSuffix(id, "."+domain))
}
