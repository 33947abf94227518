package oauth

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/clock"
)

// Provider says how to reach an identity provider. Make one with
// OIDCProvider, GoogleProvider, MicrosoftProvider or GitHubProvider.
type Provider struct {
	Name         string // in URLs and in the database: it must never change
	ClientID     string
	ClientSecret string

	// Issuer is the OpenID Connect issuer; "" for GitHub, which has none.
	Issuer string
	// DiscoveryURL is the base of the issuer's discovery document where that is
	// not found below it; "" is the issuer.
	DiscoveryURL string
	// EntraTenants means that each tenant of Microsoft Entra is an issuer of its
	// own; Issuer contains {tenantid} where the tenant's id belongs.
	EntraTenants bool

	// GitHub has the endpoints of GitHub; nil for any other provider.
	GitHub *GitHubEndpoints
}

// GitHubEndpoints are the URLs of GitHub's OAuth and of its API.
type GitHubEndpoints struct{ AuthURL, TokenURL, APIURL string }

// OIDCProvider returns the provider for any OpenID Connect issuer.
func OIDCProvider(name, issuer, clientID, clientSecret string) Provider {
	return Provider{Name: name, Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret}
}

// GoogleProvider returns the provider for Google.
func GoogleProvider(clientID, clientSecret string) Provider {
	return OIDCProvider("google", "https://accounts.google.com", clientID, clientSecret)
}

// MicrosoftProvider returns the provider for Microsoft, for work and personal
// accounts alike. The application must have the optional claims email and xms_edov
// in its ID tokens: without them only the emails of personal accounts count as
// verified.
func MicrosoftProvider(clientID, clientSecret string) Provider {
	p := OIDCProvider("microsoft", "https://login.microsoftonline.com/"+entraTenant+"/v2.0", clientID, clientSecret)
	p.DiscoveryURL = "https://login.microsoftonline.com/common/v2.0"
	p.EntraTenants = true
	return p
}

// GitHubProvider returns the provider for GitHub.
func GitHubProvider(clientID, clientSecret string) Provider {
	return Provider{Name: "github", ClientID: clientID, ClientSecret: clientSecret, GitHub: &GitHubEndpoints{
		AuthURL:  "https://github.com/login/oauth/authorize",
		TokenURL: "https://github.com/login/oauth/access_token",
		APIURL:   "https://api.github.com",
	}}
}

// identityProvider is a provider where people can log in.
type identityProvider interface {
	// authURL is the address of the consent page for a flow.
	authURL(ctx context.Context, f flow) (string, error)
	// identify finds out who has consented. An answer that fails a check is
	// errProvider.
	identify(ctx context.Context, reply Reply, f flow) (identity, error)
}

func (p Provider) connect(callback string, client *http.Client, c clock.Clock) identityProvider {
	if p.GitHub != nil {
		return newGitHub(p, callback, client)
	}
	return &oidcProvider{config: p, callback: callback, client: client, clock: c}
}

// authCodeURL is the consent page's address with the challenge of PKCE.
func authCodeURL(c *oauth2.Config, f flow, more ...oauth2.AuthCodeOption) string {
	return f.withCallback(c).AuthCodeURL(f.state, append(more, oauth2.S256ChallengeOption(f.verifier))...)
}

// withCallback returns the configuration that leads back to where the login began.
func (f flow) withCallback(c *oauth2.Config) *oauth2.Config {
	own := *c
	if f.callback != "" {
		own.RedirectURL = f.callback
	}
	return &own
}

const (
	// providerTimeout limits one request to a provider, its answer included.
	providerTimeout = 10 * time.Second
	// maxProviderBody is the longest answer of a provider, in bytes.
	maxProviderBody = 1 << 20
)

// NewClient returns the client for requests to identity providers. It gives
// up after ten seconds, reads no more than 1 MiB of an answer and follows no
// redirects: they could lead a client secret to another server.
func NewClient() *http.Client {
	return &http.Client{
		Timeout:   providerTimeout,
		Transport: limitedAnswers{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// limitedAnswers makes reading an answer fail where it is too long.
type limitedAnswers struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l limitedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = http.MaxBytesReader(nil, resp.Body, maxProviderBody)
	return resp, nil
}
