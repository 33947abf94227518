package oauth

import (
	"context"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/rest"
)

// Sessions creates the response of a login. *account.HTTP implements it.
type Sessions interface {
	// SessionOf returns the response. In cookie mode it also sets the session cookie.
	SessionOf(ctx context.Context, user account.User, tokens account.Tokens, grant account.Grant) (account.Session, error)
}

// HTTP implements the handlers for delegated login.
type HTTP struct {
	svc      *Service
	accounts Sessions
}

// NewHTTP returns the handlers. accounts creates the response of Exchange.
func NewHTTP(svc *Service, accounts Sessions) *HTTP {
	return &HTTP{svc: svc, accounts: accounts}
}

// OAuthProviders is the response of GET /auth/oauth/providers.
type OAuthProviders struct {
	Providers []string `json:"providers"`
}

// Providers handles GET /auth/oauth/providers.
func (h *HTTP) Providers(context.Context, *struct{}) (*rest.Body[OAuthProviders], error) {
	return rest.NewBody(OAuthProviders{Providers: h.svc.Providers()}), nil
}

// cookieName is the cookie that stores the browser's key, which is required to finish a login.
// Under https its name has hostPrefix: browsers accept such a cookie from this host only, so
// another subdomain cannot plant the key of another browser.
const (
	cookieName = "tenantry_oauth"
	cookiePath = "/api/v1/auth" // of delegated login and of single sign-on
	hostPrefix = "__Host-"
)

// key returns the browser's key from one of the two cookies: plain for http, host for https.
func (h *HTTP) key(plain, host string) string {
	if h.isSecure() {
		return host
	}
	return plain
}

func (h *HTTP) isSecure() bool { return strings.HasPrefix(h.svc.deps.PublicURL, "https://") }

type redirectInput struct {
	Provider string `path:"provider"`
	Key      string `cookie:"tenantry_oauth" doc:"Cookie of the browser that started the login, with http."`
	HostKey  string `cookie:"__Host-tenantry_oauth" doc:"Cookie of the browser that started the login, with https."`
}

// Redirect handles GET /auth/oauth/{provider}/redirect. It responds with status 302.
func (h *HTTP) Redirect(ctx context.Context, in *redirectInput) (*rest.NoBody, error) {
	to, key, err := h.svc.Start(ctx, in.Provider, h.key(in.Key, in.HostKey), rest.RequestOf(ctx).Host())
	if err != nil {
		return nil, err
	}
	h.SetKey(ctx, key)
	rest.RequestOf(ctx).SetHeader("Location", to)
	return &rest.NoBody{}, nil
}

// cookie returns the cookie with the browser's key. With SameSite=Lax, the browser sends it when
// the provider redirects back, which is a top-level navigation, but not with requests made by pages
// of other sites.
func (h *HTTP) cookie(key string) string {
	cookie := http.Cookie{
		Name: cookieName, Value: key, Path: cookiePath, MaxAge: int(flowLifetime.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if h.isSecure() {
		cookie.Name, cookie.Path, cookie.Secure = hostPrefix+cookieName, "/", true
	}
	return cookie.String()
}

type callbackInput struct {
	Provider string `path:"provider"`
	Key      string `cookie:"tenantry_oauth" doc:"Cookie of the browser that started the login, with http."`
	HostKey  string `cookie:"__Host-tenantry_oauth" doc:"Cookie of the browser that started the login, with https."`
	Code     string `query:"code"`
	State    string `query:"state"`
	Error    string `query:"error"`
	Issuer   string `query:"iss"`
}

// Callback handles GET /auth/oauth/{provider}/callback. If the login fails, it also redirects the
// browser to the frontend, with one of these values in error: access_denied, email_unverified,
// invalid_state, link_refused, provider_error or server_error.
func (h *HTTP) Callback(ctx context.Context, in *callbackInput) (*rest.NoBody, error) {
	to, err := h.svc.Finish(ctx, in.Provider, Reply{
		Code: in.Code, State: in.State, Error: in.Error, Issuer: in.Issuer,
	}, h.key(in.Key, in.HostKey), rest.RequestOf(ctx).Host())
	if err != nil {
		return nil, err
	}
	rest.RequestOf(ctx).SetHeader("Location", to)
	return &rest.NoBody{}, nil
}

type exchangeInput struct {
	Key     string `cookie:"tenantry_oauth" doc:"Cookie of the browser that started the login, with http."`
	HostKey string `cookie:"__Host-tenantry_oauth" doc:"Cookie of the browser that started the login, with https."`
	Body    struct {
		Code string `json:"code" maxLength:"255" doc:"One-time code (UUID) that the frontend's callback page received."`
	}
}

// OAuthSession is the response of Exchange.
type OAuthSession struct {
	User         account.SessionUser `json:"user"`
	IsNewUser    bool                `json:"isNewUser"`
	AccessToken  string              `json:"accessToken,omitempty"`
	RefreshToken string              `json:"refreshToken,omitempty"`
}

// CheckExchange returns an error if the code belongs to a disabled login method. See
// rest.Route.
func (h *HTTP) CheckExchange(ctx context.Context, field func(name string) string) error {
	code := field("code")
	if parsed, err := uuid.Parse(code); err == nil {
		code = parsed.String()
	}
	return h.svc.checkEnabled(ctx, code)
}

// Exchange handles POST /auth/oauth/exchange. In cookie mode the response omits the tokens, because
// the session is in a cookie.
func (h *HTTP) Exchange(ctx context.Context, in *exchangeInput) (*rest.Body[OAuthSession], error) {
	grant := account.GrantOf(ctx)
	user, isNew, tokens, err := h.svc.Exchange(ctx, in.Body.Code, h.key(in.Key, in.HostKey), grant)
	if err != nil {
		return nil, err
	}
	session, err := h.accounts.SessionOf(ctx, user, tokens, grant)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(OAuthSession{
		User: session.User, IsNewUser: isNew,
		AccessToken: session.AccessToken, RefreshToken: session.RefreshToken,
	}), nil
}
