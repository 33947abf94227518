package account

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
)

// avatarStore returns the URLs of avatars.
type avatarStore interface {
	// URL returns the absolute URL of the avatar with a hash. It returns nil for nil.
	URL(hash *string) *string
}

// HTTP implements the handlers for registration, login, recovery and the profile.
type HTTP struct {
	svc     *Service
	avatars avatarStore
}

// NewHTTP returns the handlers.
func NewHTTP(svc *Service, avatars avatarStore) *HTTP { return &HTTP{svc: svc, avatars: avatars} }

// Session is the response of login, register and refresh. It is not wrapped in data (rules:
// account#logins). In cookie mode it omits the tokens, because the session is in a cookie.
type Session struct {
	User         SessionUser `json:"user"`
	AccessToken  string      `json:"accessToken,omitempty"`
	RefreshToken string      `json:"refreshToken,omitempty"`
}

type registerInput struct {
	Body struct {
		Name                 string `json:"name" format:"name" maxLength:"255"`
		Email                string `json:"email" format:"email" maxLength:"255"`
		Password             string `json:"password,omitempty" format:"password" minLength:"8" maxLength:"1024" doc:"Can only be absent if email codes are enabled. The first login then needs a code from an email."`
		PasswordConfirmation string `json:"password_confirmation,omitempty" format:"password" doc:"The password again. Required with it."`
		TenantName           string `json:"tenant_name,omitempty" format:"name" maxLength:"255"`
		CreateTenant         *bool  `json:"create_tenant,omitempty" doc:"Whether to create a tenant. Use false for a user who is going to accept an invitation. Default: true."`
	}
}

// Register handles POST /auth/register.
func (h *HTTP) Register(ctx context.Context, in *registerInput) (*rest.Body[registered], error) {
	if err := h.checkPasswordGiven(ctx, in); err != nil {
		return nil, err
	}
	grant := grantOf(ctx, false)
	r := Registration{
		Name: in.Body.Name, Email: in.Body.Email, Password: in.Body.Password,
		TenantName:    in.Body.TenantName,
		WithoutTenant: in.Body.CreateTenant != nil && !*in.Body.CreateTenant,
	}
	if r.Password == "" {
		return h.registerWithCode(ctx, r, grant)
	}
	user, tokens, err := h.svc.Register(ctx, r, grant)
	if err != nil {
		return nil, err
	}
	session, err := h.SessionOf(ctx, user, tokens, grant)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(registered{User: session.User, AccessToken: session.AccessToken, RefreshToken: session.RefreshToken}), nil
}

// CheckRegister validates the email and the password before Register runs. See rest.Checks.
func (h *HTTP) CheckRegister(ctx context.Context, in *registerInput) error {
	return fault.Join(h.checkPasswordGiven(ctx, in), h.svc.CheckRegistration(ctx, in.Body.Email, in.Body.Password))
}

type loginInput struct {
	Body struct {
		Email          string `json:"email" maxLength:"255"`
		Password       string `json:"password" format:"password" maxLength:"1024"`
		Remember       bool   `json:"remember,omitempty" doc:"Whether to keep the cookie session for 30 days without use. Only in cookie mode."`
		RevokePrevious bool   `json:"revoke_previous,omitempty" doc:"Whether to revoke all other sessions of the user."`
	}
}

// Login handles POST /auth/login.
func (h *HTTP) Login(ctx context.Context, in *loginInput) (*rest.Body[Session], error) {
	grant := grantOf(ctx, in.Body.Remember)
	grant.RevokePrevious = in.Body.RevokePrevious
	user, tokens, err := h.svc.Login(ctx, in.Body.Email, in.Body.Password, grant)
	if err != nil {
		return nil, err
	}
	return h.session(ctx, user, tokens, grant)
}

// grantOf returns the grant for a login by the request of ctx.
func grantOf(ctx context.Context, remember bool) Grant {
	if !rest.RequestOf(ctx).IsCookieMode() {
		return Grant{}
	}
	return Grant{Session: true, Remember: remember, Replaces: rest.RequestOf(ctx).Session(), Browser: rest.RequestOf(ctx).BrowserKey()}
}

// session returns the response of a login.
func (h *HTTP) session(ctx context.Context, user User, tokens Tokens, grant Grant) (*rest.Body[Session], error) {
	answer, err := h.SessionOf(ctx, user, tokens, grant)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(answer), nil
}

// startSession sets the session cookie of a login in cookie mode.
func (h *HTTP) startSession(ctx context.Context, tokens Tokens, grant Grant) {
	switch {
	case tokens.Session == "":
	case grant.Remember:
		rest.RequestOf(ctx).StartSession(tokens.Session, h.svc.deps.Lifetimes.RememberedEnd)
	default:
		rest.RequestOf(ctx).StartSession(tokens.Session, 0)
	}
}

type refreshInput struct {
	Body struct {
		RefreshToken string `json:"refresh_token" minLength:"64" doc:"Refresh token of 64 characters."`
	}
}

// Refresh handles POST /auth/refresh.
func (h *HTTP) Refresh(ctx context.Context, in *refreshInput) (*rest.Body[Session], error) {
	if err := checkRefreshLength(in.Body.RefreshToken); err != nil {
		return nil, err
	}
	user, tokens, err := h.svc.Refresh(ctx, in.Body.RefreshToken)
	if err != nil {
		return nil, err
	}
	answer, err := h.sessionOf(ctx, user, tokens, Grant{})
	if err != nil {
		return nil, err
	}
	return rest.NewBody(answer), nil
}

// checkRefreshLength returns an error if a refresh token is too long. For a JWT for backends, which
// is a credential of another kind, it returns errRefreshToken.
func checkRefreshLength(token string) error {
	switch {
	case utf8.RuneCountInString(token) <= refreshLength:
		return nil
	case strings.Count(token, ".") == 2:
		return errRefreshToken
	default:
		return errRefreshLength
	}
}

// Logout handles POST /auth/logout.
func (h *HTTP) Logout(ctx context.Context, _ *struct{}) (*rest.Body[rest.Note], error) {
	if err := h.svc.Logout(ctx, authz.FromContext(ctx)); err != nil {
		return nil, err
	}
	if rest.RequestOf(ctx).Session() != "" {
		rest.RequestOf(ctx).EndSession()
	}
	return rest.Message("auth.logged_out"), nil
}

type forgotInput struct {
	Body struct {
		Email string `json:"email" format:"email" maxLength:"255"`
	}
}

// ForgotPassword handles POST /auth/forgot-password. It returns 200 whether or not an account uses
// the email.
func (h *HTTP) ForgotPassword(ctx context.Context, in *forgotInput) (*rest.Body[rest.Note], error) {
	if err := h.svc.ForgotPassword(ctx, in.Body.Email); err != nil {
		return nil, err
	}
	return rest.Message("auth.reset_link_sent"), nil
}

type resetInput struct {
	Body struct {
		Email                string `json:"email" maxLength:"255"`
		Token                string `json:"token" maxLength:"255"`
		Password             string `json:"password" format:"password" minLength:"8" maxLength:"1024"`
		PasswordConfirmation string `json:"password_confirmation" format:"password"`
		KeepTenant           bool   `json:"keep_tenant,omitempty" doc:"Whether to keep the organization of an account whose email was never verified. Use true only if the caller created the organization; otherwise it can belong to a stranger who registered the email. Default: false."`
	}
}

// ResetPassword handles POST /auth/reset-password.
func (h *HTTP) ResetPassword(ctx context.Context, in *resetInput) (*rest.Body[rest.Note], error) {
	reset := passwordReset{Email: in.Body.Email, Token: in.Body.Token, Password: in.Body.Password, KeepTenant: in.Body.KeepTenant}
	if err := h.svc.ResetPassword(ctx, reset); err != nil {
		return nil, err
	}
	return rest.Message("auth.password_reset"), nil
}

// CheckReset validates the password before ResetPassword runs. See rest.Checks.
func (h *HTTP) CheckReset(_ context.Context, in *resetInput) error {
	return CheckNewPassword(in.Body.Password)
}
