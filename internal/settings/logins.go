package settings

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/safehttp"
)

// LoginProvider is an identity provider that users can log in with.
type LoginProvider struct {
	Kind         string // one of the kinds below
	Name         string // in URLs: lower-case letters, digits and hyphens
	Issuer       string // set for kind oidc only
	ClientID     string
	ClientSecret Secret
}

// The kinds of login providers.
const (
	Google    = "google"
	Microsoft = "microsoft"
	GitHub    = "github"
	OIDC      = "oidc"
)

// SandboxProvider is the reserved name of the sandbox's identity provider.
const SandboxProvider = "sandbox"

const (
	oauthPrefix = "TENANTRY_OAUTH_"
	oidcPrefix  = "TENANTRY_OIDC_"
)

// maxProviderName is the maximum length of a provider's name, in bytes.
const maxProviderName = 40

// LoginProviders reads the identity providers from an environment in the form of os.Environ, and
// returns them sorted by name:
//
//	TENANTRY_OAUTH_GOOGLE_CLIENT_ID, …_CLIENT_SECRET (also MICROSOFT, GITHUB)
//	TENANTRY_OIDC_<NAME>_ISSUER, …_CLIENT_ID, …_CLIENT_SECRET
//
// Each secret can also come from a file, named by …_CLIENT_SECRET_FILE. Names are converted to
// lower case with hyphens: ACME_CORP becomes acme-corp. The returned error joins an Error for each
// variable that is wrong, misspelled or missing.
func LoginProviders(environ []string) ([]LoginProvider, error) {
	env := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && (strings.HasPrefix(name, oauthPrefix) || strings.HasPrefix(name, oidcPrefix)) {
			env[name] = value
		}
	}
	p := &parser{getenv: func(name string) string { return env[name] }}
	var providers []LoginProvider
	for _, prefix := range p.providerPrefixes(env) {
		providers = append(providers, p.loginProvider(prefix))
	}
	slices.SortFunc(providers, func(a, b LoginProvider) int { return strings.Compare(a.Name, b.Name) })
	return providers, errors.Join(p.errs...)
}

// parts are the suffixes of a provider's variables. Longer ones come first, so that
// …_CLIENT_SECRET_FILE is not mistaken for another variable.
var parts = []string{"_CLIENT_SECRET_FILE", "_CLIENT_SECRET", "_CLIENT_ID", "_ISSUER"}

// providerPrefixes returns the variable prefix of each provider, such as TENANTRY_OIDC_ACME, in
// alphabetical order.
func (p *parser) providerPrefixes(env map[string]string) []string {
	var prefixes, unknown []string
	for variable := range env {
		at := slices.IndexFunc(parts, func(part string) bool { return strings.HasSuffix(variable, part) })
		if at < 0 {
			unknown = append(unknown, variable)
			continue
		}
		prefix := strings.TrimSuffix(variable, parts[at])
		oauth, isOAuth := strings.CutPrefix(prefix+"_", oauthPrefix)
		named := isOAuth && slices.Contains([]string{"GOOGLE_", "MICROSOFT_", "GITHUB_"}, oauth) && parts[at] != "_ISSUER" ||
			!isOAuth && len(prefix) > len(oidcPrefix)
		if !named {
			unknown = append(unknown, variable)
			continue
		}
		prefixes = append(prefixes, prefix)
	}
	slices.Sort(unknown)
	for _, variable := range unknown {
		p.fail(variable, "unknown setting")
	}
	slices.Sort(prefixes)
	return slices.Compact(prefixes)
}

func (p *parser) loginProvider(prefix string) LoginProvider {
	l := LoginProvider{ClientID: p.getenv(prefix + "_CLIENT_ID")}
	const secret = "_CLIENT_SECRET"
	before := len(p.errs)
	l.ClientSecret = p.secretOf(prefix+secret, p.getenv(prefix+secret), p.getenv(prefix+secret+"_FILE"))
	if l.ClientSecret == "" && len(p.errs) == before {
		p.fail(prefix+secret, "required with the other settings of this provider")
	}
	if l.ClientID == "" {
		p.fail(prefix+"_CLIENT_ID", "required with the other settings of this provider")
	}
	if name, ok := strings.CutPrefix(prefix, oauthPrefix); ok {
		l.Name = strings.ToLower(name)
		l.Kind = l.Name
		return l
	}
	l.Kind = OIDC
	l.Name = p.providerName(prefix)
	if l.Issuer = p.getenv(prefix + "_ISSUER"); l.Issuer == "" {
		p.fail(prefix+"_ISSUER", "required with the other settings of this provider")
	} else if reason := issuerProblem(l.Issuer); reason != "" {
		p.fail(prefix+"_ISSUER", "%s", reason)
	}
	return l
}

func (p *parser) providerName(prefix string) string {
	name := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(prefix, oidcPrefix)), "_", "-")
	valid := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		!strings.HasPrefix(name, "-") && !strings.HasSuffix(name, "-")
	switch {
	case !valid || len(name) > maxProviderName:
		p.fail(prefix+"_ISSUER", "the name %q must have at most %d letters, digits and inner underscores", name, maxProviderName)
	case slices.Contains([]string{Google, Microsoft, GitHub, SandboxProvider}, name):
		p.fail(prefix+"_ISSUER", "the name %s is used by another provider", name)
	}
	return name
}

// issuerProblem returns the problem with an issuer, or "". The issuer is not normalized, because ID
// tokens repeat it exactly, including a trailing slash. An issuer without TLS is accepted only on
// the local machine.
func issuerProblem(issuer string) string {
	u, err := url.Parse(issuer)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return "not an absolute https URL"
	case !safehttp.HasValidPort(u):
		return "the port must be from 1 to 65535"
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "must not have a user, a query or a fragment"
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "must begin with https://"
	}
	return ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
