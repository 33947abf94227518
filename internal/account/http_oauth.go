package account

import (
	"context"
	"net/http"
	"strings"

	"github.com/tenantry/tenantry/internal/rest"
)

// OAuthHTTP has the handlers of delegated login.
type OAuthHTTP struct {
	oauth    *OAuth
	accounts *HTTP
}

// NewOAuthHTTP returns the handlers; accounts shapes the answer of exchange.
func NewOAuthHTTP(oauth *OAuth, accounts *HTTP) *OAuthHTTP {
	return &OAuthHTTP{oauth: oauth, accounts: accounts}
}

// OAuthProviders is the answer of GET /auth/oauth/providers.
type OAuthProviders struct {
	Providers []string `json:"providers"`
}

// Providers handles GET /auth/oauth/providers.
func (h *OAuthHTTP) Providers(context.Context, *struct{}) (*rest.Plain[OAuthProviders], error) {
	return rest.Bare(OAuthProviders{Providers: h.oauth.Providers()}), nil
}

// oauthCookie keeps the key with which a browser finishes the logins that it
// began.
const oauthCookie = "tenantry_oauth"

// OAuthRedirect sends a browser elsewhere; its routes have the status 302.
type OAuthRedirect struct {
	Location string `header:"Location"`
	Cookie   string `header:"Set-Cookie"`
}

type oauthRedirectInput struct {
	Provider string `path:"provider"`
	Key      string `cookie:"tenantry_oauth" doc:"The browser's key, from an earlier redirect."`
}

// Redirect handles GET /auth/oauth/{provider}/redirect.
func (h *OAuthHTTP) Redirect(ctx context.Context, in *oauthRedirectInput) (*OAuthRedirect, error) {
	to, key, err := h.oauth.Start(ctx, in.Provider, in.Key)
	if err != nil {
		return nil, err
	}
	out := &OAuthRedirect{Location: to}
	if key != "" {
		out.Cookie = h.cookie(key)
	}
	return out, nil
}

// cookie comes along when the provider sends the browser back, since that is a
// plain navigation, and with nothing that another site's page does by itself.
func (h *OAuthHTTP) cookie(key string) string {
	cookie := http.Cookie{
		Name: oauthCookie, Value: key, Path: strings.TrimSuffix(OAuthPath, "/"), MaxAge: int(oauthFlowLifetime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(h.oauth.deps.PublicURL, "https://"),
	}
	return cookie.String()
}

type oauthCallbackInput struct {
	Provider string `path:"provider"`
	Key      string `cookie:"tenantry_oauth"`
	Code     string `query:"code"`
	State    string `query:"state"`
	Error    string `query:"error"`
	Issuer   string `query:"iss"`
}

// Callback handles GET /auth/oauth/{provider}/callback. Whatever went wrong, the
// browser goes to the frontend, which is told why in error: access_denied,
// email_unverified, invalid_state, provider_error or server_error.
func (h *OAuthHTTP) Callback(ctx context.Context, in *oauthCallbackInput) (*OAuthRedirect, error) {
	to, err := h.oauth.Finish(ctx, in.Provider, OAuthReply{
		Code: in.Code, State: in.State, Error: in.Error, Issuer: in.Issuer,
	}, in.Key)
	if err != nil {
		return nil, err
	}
	return &OAuthRedirect{Location: to}, nil
}

type oauthExchangeInput struct {
	Body struct {
		Code string `json:"code" maxLength:"255" doc:"The one-time code, a UUID, from the frontend's callback page."`
	}
}

// OAuthSession is the answer of exchange.
type OAuthSession struct {
	User         SessionUser `json:"user"`
	IsNewUser    bool        `json:"isNewUser"`
	AccessToken  string      `json:"accessToken,omitempty"`
	RefreshToken string      `json:"refreshToken,omitempty"`
}

// Exchange handles POST /auth/oauth/exchange. In cookie mode the tokens are left
// out: the session is in a cookie.
func (h *OAuthHTTP) Exchange(ctx context.Context, in *oauthExchangeInput) (*rest.Plain[OAuthSession], error) {
	grant := grantOf(ctx, false)
	user, isNew, tokens, err := h.oauth.Exchange(ctx, in.Body.Code, grant)
	if err != nil {
		return nil, err
	}
	session, err := h.accounts.session(ctx, user, tokens, grant)
	if err != nil {
		return nil, err
	}
	return rest.Bare(OAuthSession{
		User: session.Body.User, IsNewUser: isNew,
		AccessToken: session.Body.AccessToken, RefreshToken: session.Body.RefreshToken,
	}), nil
}
