// Package domain manages the domains of tenants, and lets users with an email address in a verified
// domain join the tenant (rules: tenant#domains).
package domain

import (
	"net/netip"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/tenantry/tenantry/internal/mail"
)

// The statuses of a domain.
const (
	statusPending  = "pending"
	statusVerified = "verified"
	statusLost     = "lost"
)

const (
	// maxDomains is the maximum number of domains of a tenant.
	maxDomains = 20
	// maxFailedChecks is the number of failed daily checks in a row after which a domain is lost.
	maxFailedChecks = 3
)

// Domain is a domain of a tenant.
type Domain struct {
	ID            uuid.UUID
	TenantID      uuid.UUID
	Name          string // normalized
	Status        string
	token         string
	AutoJoin      bool
	RoleID        int64 // of users who join through the domain
	Role          string
	VerifiedAt    *time.Time
	LastCheckedAt *time.Time
	FailedChecks  int64
}

// recordName returns the name of the TXT record that proves control of a domain.
func recordName(domain string) string { return "_tenantry." + domain }

// recordValue returns the value of the record. The token is random, so the record of one tenant
// proves nothing for another.
func recordValue(token string) string { return "tenantry-verification=" + token }

// normalize returns the form in which a domain is stored and compared: lower case, punycode, without
// a final dot. ok is false if no tenant can own the domain. A tenant can own a registrable domain,
// or a domain below one, unless it belongs to a mail provider.
func normalize(text string) (domain string, ok bool) {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return "", false
	}
	if strings.ContainsFunc(text, isInvisible) { // idna would remove it
		return "", false
	}
	ascii, err := idna.Lookup.ToASCII(text)
	if err != nil {
		return "", false
	}
	// Email addresses allow the same host names. Even with the longest name, the address does not
	// exceed the maximum length.
	address, err := mail.NormalizeAddress("a@" + ascii)
	if err != nil {
		return "", false
	}
	domain = strings.TrimPrefix(address, "a@")
	registrable, err := publicsuffix.EffectiveTLDPlusOne(domain)
	return domain, err == nil && !isMailProvider(registrable)
}

// isInvisible reports whether a character is a control or format character.
func isInvisible(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }

// OfEmail returns the domain of a normalized email.
func OfEmail(email string) string { return email[strings.LastIndexByte(email, '@')+1:] }
