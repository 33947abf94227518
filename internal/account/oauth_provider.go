package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/clock"
)

// OAuthProvider says how to reach an identity provider. Make one with
// OIDCProvider, GoogleProvider, MicrosoftProvider or GitHubProvider.
type OAuthProvider struct {
	Name         string // in URLs and in the database: it must never change
	ClientID     string
	ClientSecret string

	// Issuer is the OpenID Connect issuer; "" for GitHub, which has none.
	Issuer string
	// DiscoveryURL is the base of the issuer's discovery document where that is
	// found elsewhere; "" is the issuer.
	DiscoveryURL string
	// EntraTenants says that each tenant of Microsoft Entra is an issuer of its
	// own; Issuer has a place for the tenant's id.
	EntraTenants bool

	// GitHub has GitHub's endpoints.
	GitHub *GitHubEndpoints
}

// GitHubEndpoints are where GitHub's OAuth and its API lie.
type GitHubEndpoints struct{ AuthURL, TokenURL, APIURL string }

// OIDCProvider is any OpenID Connect issuer.
func OIDCProvider(name, issuer, clientID, clientSecret string) OAuthProvider {
	return OAuthProvider{Name: name, Issuer: issuer, ClientID: clientID, ClientSecret: clientSecret}
}

// GoogleProvider is Google.
func GoogleProvider(clientID, clientSecret string) OAuthProvider {
	return OIDCProvider("google", "https://accounts.google.com", clientID, clientSecret)
}

// MicrosoftProvider is Microsoft, for work and personal accounts alike. The
// application must have the optional claims email and xms_edov in its ID tokens:
// without them Microsoft vouches for the emails of personal accounts alone.
func MicrosoftProvider(clientID, clientSecret string) OAuthProvider {
	p := OIDCProvider("microsoft", "https://login.microsoftonline.com/"+entraTenant+"/v2.0", clientID, clientSecret)
	p.DiscoveryURL = "https://login.microsoftonline.com/common/v2.0"
	p.EntraTenants = true
	return p
}

// GitHubProvider is GitHub.
func GitHubProvider(clientID, clientSecret string) OAuthProvider {
	return OAuthProvider{Name: "github", ClientID: clientID, ClientSecret: clientSecret, GitHub: &GitHubEndpoints{
		AuthURL:  "https://github.com/login/oauth/authorize",
		TokenURL: "https://github.com/login/oauth/access_token",
		APIURL:   "https://api.github.com",
	}}
}

// identityProvider is a provider that people can be sent to.
type identityProvider interface {
	// authURL is the address of the consent page for a flow.
	authURL(ctx context.Context, flow oauthFlow) (string, error)
	// identify finds out who has consented. What it cannot believe is errProvider.
	identify(ctx context.Context, reply OAuthReply, flow oauthFlow) (identity, error)
}

func (p OAuthProvider) connect(callback string, client *http.Client, c clock.Clock) identityProvider {
	if p.GitHub != nil {
		return newGitHub(p, callback, client)
	}
	return &oidcProvider{config: p, callback: callback, client: client, clock: c}
}

// authCodeURL is the consent page's address with the challenge of PKCE.
func authCodeURL(c *oauth2.Config, flow oauthFlow, more ...oauth2.AuthCodeOption) string {
	return c.AuthCodeURL(flow.state, append(more, oauth2.S256ChallengeOption(flow.verifier))...)
}

const (
	// providerTimeout bounds one request to a provider, its answer included.
	providerTimeout = 10 * time.Second
	// maxProviderBody bounds an answer of a provider, in bytes.
	maxProviderBody = 1 << 20
)

// NewOAuthClient returns the client for requests to identity providers. It gives
// up after ten seconds, reads no more than 1 MiB of an answer and follows no
// redirects: a provider has no reason to lead a client secret elsewhere.
func NewOAuthClient() *http.Client {
	return &http.Client{
		Timeout:   providerTimeout,
		Transport: boundedAnswers{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// boundedAnswers ends an answer that is too long with an error.
type boundedAnswers struct{ next http.RoundTripper }

var errTooLong = errors.New("the answer is too long")

// RoundTrip implements http.RoundTripper.
func (b boundedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxProviderBody}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return n, errTooLong
	}
	return n, err
}

// distrust makes an error of a provider what it is to the frontend, keeping its
// text for the log.
func distrust(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", errProvider, what, err)
}
