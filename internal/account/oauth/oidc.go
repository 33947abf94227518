package oauth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/tenantry/tenantry/internal/clock"
)

// oidcProvider is an OpenID Connect provider.
type oidcProvider struct {
	config   Provider
	callback string
	client   *http.Client
	clock    clock.Clock

	// The discovery document is read at the first login and cached for the life of the process. The
	// keys of the provider are read again whenever a key ID is unknown.
	known   atomic.Pointer[discovery]
	pending singleflight.Group
}

// discovery holds the configuration from a provider's discovery document.
type discovery struct {
	provider *oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
	userInfo bool
}

// discover returns the provider's configuration. Concurrent callers share one request, which
// continues if one of them gives up.
func (p *oidcProvider) discover(ctx context.Context) (*discovery, error) {
	if d := p.known.Load(); d != nil {
		return d, nil
	}
	answer := p.pending.DoChan("", func() (any, error) {
		d, err := p.fetchDiscovery(context.WithoutCancel(ctx)) // the client has a timeout
		if err == nil {
			p.known.Store(d)
		}
		return d, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-answer:
		if a.Err != nil {
			return nil, providerError("discovery", a.Err)
		}
		return a.Val.(*discovery), nil
	}
}

func (p *oidcProvider) fetchDiscovery(ctx context.Context) (*discovery, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	base := p.config.Issuer
	if p.config.DiscoveryURL != "" {
		// This is safe: the address is configured, not supplied by a caller, and the issuer of each
		// ID token is compared with the configured issuer.
		ctx = oidc.InsecureIssuerURLContext(ctx, p.config.Issuer)
		base = p.config.DiscoveryURL
	}
	provider, err := oidc.NewProvider(ctx, base)
	if err != nil {
		return nil, err
	}
	var metadata struct {
		AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, err
	}
	endpoint := provider.Endpoint()
	endpoint.AuthStyle = AuthStyle(metadata.AuthMethods)
	return &discovery{
		provider: provider,
		verifier: provider.Verifier(&oidc.Config{
			ClientID: p.config.ClientID, Now: p.clock.Now, SkipIssuerCheck: p.config.EntraTenants, // entraIssuer checks it
		}),
		oauth: oauth2.Config{
			ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, RedirectURL: p.callback,
			Endpoint: endpoint, Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
		},
		userInfo: provider.UserInfoEndpoint() != "" && !p.config.EntraTenants,
	}, nil
}

// Discover reads a provider's discovery document, as the first login would. For a provider without
// one, such as GitHub, it does nothing.
func Discover(ctx context.Context, p Provider, c clock.Clock) error {
	if p.Issuer == "" {
		return nil
	}
	_, err := (&oidcProvider{config: p, client: NewClient(), clock: c}).discover(ctx)
	return err
}

// AuthStyle returns how to send the client secret. If the provider lists exactly one of the two
// methods, it uses that method. Otherwise the library tries both, because some providers list more
// methods than they accept.
func AuthStyle(methods []string) oauth2.AuthStyle {
	basic, post := slices.Contains(methods, "client_secret_basic"), slices.Contains(methods, "client_secret_post")
	switch {
	case basic && !post:
		return oauth2.AuthStyleInHeader
	case post && !basic:
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleAutoDetect
}

func (p *oidcProvider) authURL(ctx context.Context, f flow) (string, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return authCodeURL(&d.oauth, f, oidc.Nonce(f.nonce)), nil
}

func (p *oidcProvider) identify(ctx context.Context, reply Reply, f flow) (identity, error) {
	if reply.Issuer != "" && reply.Issuer != p.config.Issuer && !p.config.EntraTenants {
		return identity{}, providerError("callback", errors.New("unexpected issuer"))
	}
	d, err := p.discover(ctx)
	if err != nil {
		return identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := f.withCallback(&d.oauth).Exchange(ctx, reply.Code, oauth2.VerifierOption(f.verifier))
	if err != nil {
		return identity{}, providerError("token", err)
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := d.verifier.Verify(ctx, raw)
	if err != nil {
		return identity{}, providerError("ID token", err)
	}
	var c oidcClaims
	if err := idToken.Claims(&c); err != nil {
		return identity{}, providerError("ID token", err)
	}
	if err := p.check(idToken, c, token.AccessToken, f.nonce); err != nil {
		return identity{}, providerError("ID token", err)
	}
	who := p.identityOf(c)
	who.subject = idToken.Subject
	if p.config.EntraTenants {
		who.subject = c.EntraTenant + "/" + idToken.Subject // subjects are unique only within an issuer
	}
	if who.email == "" && d.userInfo {
		return p.fetchUserInfo(ctx, d, token, who)
	}
	return who, nil
}

// check performs the checks that the library leaves to its caller.
func (p *oidcProvider) check(t *oidc.IDToken, c oidcClaims, accessToken, nonce string) error {
	switch {
	case !equalSecrets(t.Nonce, nonce):
		return errors.New("the nonce does not match")
	case t.Subject == "":
		return errors.New("the subject is missing")
	case strings.ContainsFunc(t.Subject, unicode.IsControl): // not every database can store it
		return errors.New("the subject contains a control character")
	case len(t.Audience) > 1 && c.AuthorizedParty != p.config.ClientID:
		return errors.New("unexpected audience")
	case p.config.EntraTenants && !entraIssuer(p.config.Issuer, t.Issuer, c.EntraTenant):
		return errors.New("the issuer does not match the tenant")
	case t.AccessTokenHash != "":
		return t.VerifyAccessToken(accessToken)
	}
	return nil
}

// fetchUserInfo reads the claims that an ID token may omit from the UserInfo endpoint. It takes
// email and email_verified from the same document, because one document does not confirm the email
// in the other.
func (p *oidcProvider) fetchUserInfo(ctx context.Context, d *discovery, token *oauth2.Token, who identity) (identity, error) {
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return identity{}, providerError("user info", err)
	}
	if info.Subject != who.subject {
		return identity{}, providerError("user info", errors.New("the subject does not match"))
	}
	var c oidcClaims
	if err := info.Claims(&c); err != nil {
		return identity{}, providerError("user info", err)
	}
	more := p.identityOf(c)
	more.subject = who.subject
	return more, nil
}

// oidcClaims holds the claims that a login reads.
type oidcClaims struct {
	AuthorizedParty string      `json:"azp"`
	Email           string      `json:"email"`
	EmailVerified   lenientBool `json:"email_verified"`
	Name            string      `json:"name"`
	Picture         string      `json:"picture"`

	EntraTenant      string      `json:"tid"`
	DomainOwnerKnown lenientBool `json:"xms_edov"`
}

// lenientBool is a boolean that some providers encode as a string or a number. Only true and 1 are
// true.
type lenientBool bool

// UnmarshalJSON implements json.Unmarshaler.
func (l *lenientBool) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	*l = lenientBool(text == "true" || text == "1")
	return nil
}

func (p *oidcProvider) identityOf(c oidcClaims) identity {
	who := identity{email: c.Email, emailVerified: bool(c.EmailVerified), name: c.Name, picture: c.Picture}
	if p.config.EntraTenants {
		who.emailVerified = bool(c.DomainOwnerKnown) || c.EntraTenant == entraPersonal
	}
	return who
}

// The email claim of Microsoft is arbitrary text set by the tenant's administrator, and Microsoft
// does not send email_verified. The email belongs to the user only if xms_edov confirms that the
// owner of the domain is verified, or if the account is personal (Microsoft identity platform,
// "Migrate away from using email claims for user identification or authorization" and "Optional
// claims reference").
const (
	// entraTenant is the placeholder for the tenant ID in the issuer.
	entraTenant = "{tenantid}"
	// entraPersonal is the ID of the tenant of all personal accounts.
	entraPersonal = "9188040d-6c67-4c5b-b112-36a304b66dad"
)

// entraIssuer reports whether the issuer of an ID token matches the tenant that the token names.
func entraIssuer(template, issuer, tenant string) bool {
	id, err := uuid.Parse(tenant)
	return err == nil && id.String() == tenant && issuer == strings.ReplaceAll(template, entraTenant, tenant)
}
