package settings

import (
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// maxAudience is the maximum length of the audience of tokens.
const maxAudience = 255

// Defaults of absent or empty settings.
const (
	defaultAddr = "127.0.0.1:8080"
	defaultData = "data"
)

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

// secretsKeyFile returns the absolute path of the key file, or "" for the default. The file may not
// exist yet.
func (p *parser) secretsKeyFile(value string) string {
	if value == "" {
		return ""
	}
	path, err := filepath.Abs(value)
	if err != nil {
		p.fail("TENANTRY_SECRETS_KEY_FILE", "%v", err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		p.fail("TENANTRY_SECRETS_KEY_FILE", "%s is a folder", value)
	}
	return path
}

func (p *parser) databaseURL(f StoreFlags, data string) Secret {
	const name = "TENANTRY_DATABASE_URL"
	value := p.secretOf(name, f.DatabaseURL, f.DatabaseURLFile)
	if value == "" {
		return Secret(sqldb.FileURL(filepath.Join(data, DatabaseFile)))
	}
	p.checkDatabaseURL(name, value)
	return value
}

func (p *parser) checkDatabaseURL(name string, value Secret) {
	u, err := url.Parse(value.Reveal()) // err contains the password and must not be shown
	switch {
	case err != nil:
		p.fail(name, "not a URL")
	case u.Scheme == "sqlite":
		if u.Host != "" || u.User != nil || !filepath.IsAbs(sqldb.FilePath(u)) {
			p.fail(name, "not of the form sqlite:///absolute/path")
		}
	case u.Scheme != "postgres" && u.Scheme != "postgresql":
		p.fail(name, "must begin with postgres:// or sqlite://")
	case !safehttp.HasValidPort(u):
		p.fail(name, "the port must be from 1 to 65535")
	case u.Opaque != "":
		p.fail(name, "not of the form postgres://user:password@host/name")
	}
}

// webURL returns nil for an empty value. It removes a trailing slash, so that paths can be
// appended.
func (p *parser) webURL(name, value string) *url.URL {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		p.fail(name, "not an absolute http or https URL")
	case !safehttp.HasValidPort(u):
		p.fail(name, "the port must be from 1 to 65535")
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
		if err != nil || u.Hostname() == "" || u.Host != host || strings.Contains(host, "*") || !safehttp.HasValidPort(u) {
			p.fail(name, "%q is not a host or host:port", host)
			continue
		}
		hosts = append(hosts, strings.ToLower(host))
	}
	return hosts
}

func (p *parser) paths(name, value string) frontend.Paths {
	paths, err := frontend.ParsePaths(value)
	if err != nil {
		p.fail(name, "%v", err)
	}
	return paths
}

// cookieDomain reads a domain that browsers accept in cookies from the service's host. Browsers
// reject a top-level domain.
func (p *parser) cookieDomain(name, value string, public *url.URL) string {
	domain := strings.ToLower(strings.TrimPrefix(value, "."))
	if domain == "" {
		return ""
	}
	u, err := url.Parse("//" + domain)
	_, notIP := netip.ParseAddr(domain)
	if err != nil || u.Hostname() != domain || notIP == nil || !strings.Contains(strings.Trim(domain, "."), ".") || strings.Contains(domain, "*") {
		p.fail(name, "%q is not a domain such as example.com", value)
		return ""
	}
	if public == nil || !strings.HasSuffix("."+strings.ToLower(public.Hostname()), "."+domain) {
		p.fail(name, "%q is neither the host of TENANTRY_PUBLIC_URL nor a domain above it", value)
		return ""
	}
	return domain
}

// audience reads the audience of tokens, which is a URI or a name.
func (p *parser) audience(name, value string) string {
	if len(value) > maxAudience || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }) {
		p.fail(name, "must have at most %d printable ASCII characters, without spaces", maxAudience)
		return ""
	}
	return value
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

// parseChoice accepts two values. The first is the default.
func parseChoice[T ~string](p *parser, name, value string, first, second T) T {
	switch T(value) {
	case "", first:
		return first
	case second:
		return second
	}
	p.fail(name, "%q is neither %s nor %s", value, first, second)
	return ""
}

// list splits a value at commas and spaces and drops empty parts.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
}

// onOff reads a setting that is on or off. otherwise is the default.
func (p *parser) onOff(name, value string, otherwise bool) bool {
	switch value {
	case "":
		return otherwise
	case "on", "off":
		return value == "on"
	default:
		p.fail(name, "%q is neither on nor off", value)
		return otherwise
	}
}
