package account

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/i18n"
)

// deviceMemory is how long a pair of browser and network counts as known after a login.
const deviceMemory = 90 * 24 * time.Hour

// noteDevice records the pair of browser and network of a login, and mails the user about a new
// pair, except at registration. The caller has locked the user.
func (s *Service) noteDevice(ctx context.Context, user User, isRegistration bool, now time.Time) error {
	source := authz.SourceOf(ctx)
	if source.IP == "" { // not a request
		return nil
	}
	browser := browserName(source.UserAgent)
	isKnown, err := s.store.useDevice(ctx, user.ID, browser+"\n"+networkOf(source.IP), now)
	if err != nil || isKnown || isRegistration || s.deps.Notices == nil {
		return err
	}
	locale, err := s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, i18n.Locale(ctx))
	if err != nil {
		return err
	}
	return s.deps.Notices.NewLogin(ctx, locale, user.Email, user.Name, browser, source.IP)
}

// networkOf returns the network of an address: its /24 (IPv4) or /48 (IPv6).
func networkOf(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	bits := 48
	if address = address.Unmap(); address.Is4() {
		bits = 24
	}
	network, _ := address.WithZone("").Prefix(bits) // the length is valid
	return network.String()
}

// browserMarks are the parts of a User-Agent by which browsers are recognized. Most browsers also
// name the browsers they are compatible with, so the order matters.
var browserMarks = []struct{ mark, name string }{
	{"Edg", "Microsoft Edge"},
	{"OPR/", "Opera"},
	{"SamsungBrowser/", "Samsung Internet"},
	{"Firefox/", "Firefox"},
	{"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"},
	{"Chrome/", "Chrome"},
	{"Safari/", "Safari"},
}

// systemMarks are the parts of a User-Agent by which systems are recognized, in order.
var systemMarks = []struct{ mark, name string }{
	{"iPhone", "iOS"},
	{"iPad", "iPadOS"},
	{"Android", "Android"},
	{"Windows", "Windows"},
	{"Macintosh", "macOS"},
	{"CrOS", "ChromeOS"},
	{"Linux", "Linux"},
}

// maxBrowserName is the maximum length of the name of an unknown browser, in bytes.
const maxBrowserName = 40

// browserName returns the name and the system of a browser, without versions. For an unknown
// browser it returns the first product name of its User-Agent, which can be empty.
func browserName(userAgent string) string {
	name := ""
	for _, b := range browserMarks {
		if strings.Contains(userAgent, b.mark) {
			name = b.name
			break
		}
	}
	if name == "" {
		name, _, _ = strings.Cut(userAgent, "/")
		name, _, _ = strings.Cut(name, " ")
		name = strings.ToValidUTF8(name[:min(len(name), maxBrowserName)], "")
	}
	for _, s := range systemMarks {
		if strings.Contains(userAgent, s.mark) {
			return name + " (" + s.name + ")"
		}
	}
	return name
}
