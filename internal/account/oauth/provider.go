package oauth

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/clock"
)

// Provider configures an identity provider. Create one with OIDCProvider, GoogleProvider,
// MicrosoftProvider or GitHubProvider.
type Provider struct {
	Name         string // used in URLs and in the database; must never change
	ClientID     string
	ClientSecret string

	// Issuer is the OpenID Connect issuer; "" for GitHub.
	Issuer string
	// DiscoveryURL is the base URL of the discovery document if it differs from the issuer.
	DiscoveryURL string
	// EntraTenants means that each Microsoft Entra tenant is a separate issuer. Issuer contains the
	// placeholder {tenantid}.
	EntraTenants bool

	// GitHub holds the endpoints of GitHub; nil for other providers.
	GitHub *GitHubEndpoints
}

// GitHubEndpoints holds the URLs of GitHub's OAuth endpoints and API.
type GitHubEndpoints struct{ AuthURL, TokenURL, APIURL string }

// OIDCProvider returns the configuration of an OpenID Connect provider.
func OIDCProvider(name, issuer, clientID, clientSecret string) Provider {
	return Provider{Name: name, Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret}
}

// GoogleProvider returns the configuration of Google.
func GoogleProvider(clientID, clientSecret string) Provider {
	return OIDCProvider("google", "https://accounts.google.com", clientID, clientSecret)
}

// MicrosoftProvider returns the configuration of Microsoft, for work and personal accounts. The
// application must request the optional claims email and xms_edov in its ID tokens. Without them,
// only the emails of personal accounts count as verified.
func MicrosoftProvider(clientID, clientSecret string) Provider {
	p := OIDCProvider("microsoft", "https://login.microsoftonline.com/"+entraTenant+"/v2.0", clientID, clientSecret)
	p.DiscoveryURL = "https://login.microsoftonline.com/common/v2.0"
	p.EntraTenants = true
	return p
}

// GitHubProvider returns the configuration of GitHub.
func GitHubProvider(clientID, clientSecret string) Provider {
	return Provider{Name: "github", ClientID: clientID, ClientSecret: clientSecret, GitHub: &GitHubEndpoints{
		AuthURL:  "https://github.com/login/oauth/authorize",
		TokenURL: "https://github.com/login/oauth/access_token",
		APIURL:   "https://api.github.com",
	}}
}

// identityProvider is the client of a provider.
type identityProvider interface {
	// authURL returns the address of the consent page for a flow.
	authURL(ctx context.Context, f flow) (string, error)
	// identify returns the user who has consented. It returns errProvider if the response fails a
	// check.
	identify(ctx context.Context, reply Reply, f flow) (identity, error)
}

func (p Provider) connect(callback string, client *http.Client, c clock.Clock) identityProvider {
	if p.GitHub != nil {
		return newGitHub(p, callback, client)
	}
	return &oidcProvider{config: p, callback: callback, client: client, clock: c}
}

// authCodeURL returns the address of the consent page, with the PKCE challenge.
func authCodeURL(c *oauth2.Config, f flow, more ...oauth2.AuthCodeOption) string {
	return f.withCallback(c).AuthCodeURL(f.state, append(more, oauth2.S256ChallengeOption(f.verifier))...)
}

// withCallback returns the configuration with the redirect URI of the flow.
func (f flow) withCallback(c *oauth2.Config) *oauth2.Config {
	own := *c
	if f.callback != "" {
		own.RedirectURL = f.callback
	}
	return &own
}

const (
	// providerTimeout limits the duration of a request to a provider, including the response.
	providerTimeout = 10 * time.Second
	// maxProviderBody is the maximum size of a provider's response, in bytes.
	maxProviderBody = 1 << 20
)

// NewClient returns the client for requests to identity providers. It times out after 10 seconds,
// reads at most 1 MiB of a response and does not follow redirects, which could send the client
// secret to another server.
func NewClient() *http.Client {
	return &http.Client{
		Timeout:   providerTimeout,
		Transport: limitedAnswers{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// limitedAnswers is a transport that limits the size of responses to maxProviderBody.
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
