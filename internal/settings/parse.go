package settings

import (
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
)

// What a setting is when it is not given, or given as nothing.
const (
	defaultAddr = "127.0.0.1:8080"
	defaultData = "data"
)

// SandboxFile is the sandbox's own database in the data folder. Where it lies,
// everybody may know the passwords of the accounts.
const SandboxFile = "sandbox.db"

// parser turns flags into settings and collects what is wrong with them.
type parser struct {
	getenv func(string) string
	errs   []error
}

func (p *parser) fail(name, format string, args ...any) {
	p.errs = append(p.errs, &Error{Name: name, Reason: fmt.Sprintf(format, args...)})
}

func (p *parser) http(f HTTPFlags, s *Settings) {
	s.Addr = p.addr("TENANTRY_ADDR", f.Addr)
	s.PublicURL = p.webURL("TENANTRY_PUBLIC_URL", f.PublicURL)
	s.FrontendURL = p.webURL("TENANTRY_FRONTEND_URL", f.FrontendURL)
	s.FirstPartyHosts = p.hosts("TENANTRY_FIRST_PARTY_HOSTS", f.FirstPartyHosts)
	s.TrustedProxies = p.proxies("TENANTRY_TRUSTED_PROXIES", f.TrustedProxies)
	limits, err := limit.ParseSetting(f.RateLimits)
	if err != nil {
		p.fail("TENANTRY_RATE_LIMITS", "%v", err)
	}
	s.RateLimits = limits
	if s.RedisURL = p.secretOf("TENANTRY_REDIS_URL", f.RedisURL, f.RedisURLFile); s.RedisURL != "" {
		if err := limit.CheckRedisURL(s.RedisURL.Reveal()); err != nil {
			p.fail("TENANTRY_REDIS_URL", "%v", err)
		}
	}
	if f.MetricsAddr != "" {
		s.MetricsAddr = p.addr("TENANTRY_METRICS_ADDR", f.MetricsAddr)
	}
}

func (p *parser) store(f StoreFlags, format LogFormat, s *Settings) {
	s.Data = p.dir("TENANTRY_DATA", f.Data)
	s.DatabaseURL = p.databaseURL(f, s.Data)
	if f.LogLevel != "" {
		if err := s.LogLevel.UnmarshalText([]byte(f.LogLevel)); err != nil || strings.ContainsAny(f.LogLevel, "+-") {
			p.fail("TENANTRY_LOG_LEVEL", "%q is not debug, info, warn or error", f.LogLevel)
		}
	}
	other := LogText
	if format == LogText {
		other = LogJSON
	}
	s.LogFormat = oneOf(p, "TENANTRY_LOG_FORMAT", f.LogFormat, format, other)
}

func (p *parser) outside(f OutsideFlags, s *Settings) {
	p.provider(f.StripeSecretKeyFile, s)
	s.StripeWebhookSecrets = p.webhookSecrets("TENANTRY_STRIPE_WEBHOOK_SECRET", f.StripeWebhookSecretFile)
	if s.SMTPURL = p.required("TENANTRY_SMTP_URL", f.SMTPURLFile); s.SMTPURL != "" {
		if _, err := mail.ParseSMTPURL(s.SMTPURL.Reveal()); err != nil {
			p.fail("TENANTRY_SMTP_URL", "%v", err)
		}
	}
	if s.MailFrom = f.MailFrom; s.MailFrom == "" {
		p.fail("TENANTRY_MAIL_FROM", "required by serve")
	} else if _, err := netmail.ParseAddress(s.MailFrom); err != nil {
		p.fail("TENANTRY_MAIL_FROM", "%q is not a mail address", s.MailFrom)
	}
}

func (p *parser) provider(keyFile string, s *Settings) {
	s.StripeSecretKey = p.stripeSecret("TENANTRY_STRIPE_SECRET_KEY", keyFile, "sk_", "rk_")
}

// refuseSandbox keeps a production process off what dev has made.
func (p *parser) refuseSandbox(s Settings) {
	if _, err := os.Stat(filepath.Join(s.Data, SandboxFile)); s.Data != "" && err == nil {
		p.fail("TENANTRY_DATA", "%s belongs to a sandbox of tenantry dev, whose accounts have well-known passwords", s.Data)
	}
	if strings.Contains(s.StripeSecretKey.Reveal(), "sandbox") {
		p.fail("TENANTRY_STRIPE_SECRET_KEY", "is a key of the sandbox")
	}
}

func (p *parser) addr(name, value string) string {
	if value == "" {
		return defaultAddr
	}
	_, port, err := net.SplitHostPort(value)
	if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || strconv.FormatUint(n, 10) != port {
		p.fail(name, "%q is not host:port", value)
	}
	return value
}

func (p *parser) dir(name, value string) string {
	if value == "" {
		value = defaultData
	}
	path, err := filepath.Abs(value)
	if err != nil {
		p.fail(name, "%v", err)
		return ""
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		p.fail(name, "%s is not a folder", value)
	}
	return path
}

func (p *parser) databaseURL(f StoreFlags, data string) Secret {
	const name = "TENANTRY_DATABASE_URL"
	value := p.secretOf(name, f.DatabaseURL, f.DatabaseURLFile)
	if value == "" {
		return Secret((&url.URL{Scheme: "sqlite", Path: filepath.ToSlash(filepath.Join(data, "tenantry.db"))}).String())
	}
	u, err := url.Parse(value.Reveal()) // its error would repeat the password
	switch {
	case err != nil:
		p.fail(name, "is not a URL")
	case u.Scheme == "sqlite":
		if u.Host != "" || u.User != nil || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
			p.fail(name, "is not of the form sqlite:///absolute/path")
		}
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		p.fail(name, "begins with neither postgres:// nor sqlite://")
	case u.Opaque != "":
		p.fail(name, "is not of the form postgres://user:password@host/name")
	}
	return value
}

// webURL is nil when nothing is given. A slash at the end is dropped, so that
// paths can be appended.
func (p *parser) webURL(name, value string) *url.URL {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		p.fail(name, "is not an absolute http or https URL")
	case u.User != nil:
		p.fail(name, "must not have a user or a password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		p.fail(name, "must not have a query or a fragment")
	default:
		u.Host = strings.ToLower(u.Host)
		u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
		return u
	}
	return nil
}

func (p *parser) hosts(name, value string) []string {
	var hosts []string
	for _, host := range list(value) {
		u, err := url.Parse("//" + host)
		if err != nil || u.Hostname() == "" || u.Host != host || strings.Contains(host, "*") {
			p.fail(name, "%q is not a host or host:port", host)
			continue
		}
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts
}

func (p *parser) proxies(name, value string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range list(value) {
		if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
			addr = addr.Unmap()
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil || prefix.Addr().Is4In6() {
			p.fail(name, "%q is neither an IP address nor a network such as 10.0.0.0/8", text)
			continue
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes
}

// oneOf reads one of two values, of which the first is the default.
func oneOf[T ~string](p *parser, name, value string, first, second T) T {
	switch T(value) {
	case "", first:
		return first
	case second:
		return second
	}
	p.fail(name, "%q is neither %s nor %s", value, first, second)
	return ""
}

// list splits at commas and drops empty parts.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}
