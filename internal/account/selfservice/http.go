package selfservice

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP implements the handlers for the caller's own account.
type HTTP struct {
	svc      *Service
	accounts *account.HTTP
}

// NewHTTP returns the handlers.
func NewHTTP(svc *Service, accounts *account.HTTP) *HTTP { return &HTTP{svc: svc, accounts: accounts} }

type profileInput struct {
	Body struct {
		Name   *string           `json:"name,omitempty" format:"name" minLength:"1" maxLength:"255" example:"Ada Lovelace"`
		Locale shape.Opt[string] `json:"locale,omitzero" nullable:"true" enum:"en,fr,es,it" doc:"Language of emails to the user. Null resets it."`
	}
}

// ChangeProfile handles PATCH /user.
func (h *HTTP) ChangeProfile(ctx context.Context, in *profileInput) (*rest.Data[account.ProfileUser], error) {
	caller, change := authz.FromContext(ctx), ProfileChange{Name: in.Body.Name}
	if in.Body.Locale.Set {
		locale := in.Body.Locale.Or(nil)
		change.Locale = &locale
	}
	if err := h.svc.ChangeProfile(ctx, caller, change); err != nil {
		return nil, err
	}
	user, err := h.accounts.ProfileOf(ctx, caller)
	if err != nil {
		return nil, err
	}
	return rest.OK(user), nil
}

type passwordInput struct {
	Body struct {
		CurrentPassword      string `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Current password. Required if the account has a password."`
		Password             string `json:"password" format:"password" minLength:"8" maxLength:"1024"`
		PasswordConfirmation string `json:"password_confirmation" format:"password"`
	}
}

// ChangePassword handles PUT /user/password.
func (h *HTTP) ChangePassword(ctx context.Context, in *passwordInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.deps.Accounts.ChangePassword(ctx, authz.FromContext(ctx), in.Body.CurrentPassword, in.Body.Password)
}

// CheckPassword validates the passwords before ChangePassword runs. See rest.Checks.
func (h *HTTP) CheckPassword(ctx context.Context, in *passwordInput) error {
	return fault.Join(h.verifyPassword(ctx, in.Body.CurrentPassword), account.CheckNewPassword(in.Body.Password))
}

// verifyPassword returns a validation error if the caller's password is missing or wrong.
func (h *HTTP) verifyPassword(ctx context.Context, password string) error {
	_, err := h.svc.deps.Accounts.VerifyPassword(ctx, authz.FromContext(ctx), password)
	return err
}

type emailInput struct {
	Body struct {
		Email           string `json:"email" format:"email" maxLength:"255" example:"ada@example.com"`
		CurrentPassword string `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Current password. Required if the account has a password."`
	}
}

// linkSent is the message key of responses to requests that mail a link.
const linkSent = "account.email_link_sent"

// ChangeEmail handles POST /user/email. It returns 202 whether or not an account uses the address.
func (h *HTTP) ChangeEmail(ctx context.Context, in *emailInput) (*rest.Body[rest.Note], error) {
	if err := h.svc.ChangeEmail(ctx, authz.FromContext(ctx), in.Body.Email, in.Body.CurrentPassword); err != nil {
		return nil, err
	}
	return rest.Message(linkSent), nil
}

// CheckEmail verifies the password before ChangeEmail runs. See rest.Checks.
func (h *HTTP) CheckEmail(ctx context.Context, in *emailInput) error {
	return h.verifyPassword(ctx, in.Body.CurrentPassword)
}

// RequestVerification handles POST /user/email/verification. It sends no link if the email is verified.
func (h *HTTP) RequestVerification(ctx context.Context, _ *struct{}) (*rest.AcceptedNote, error) {
	isNeeded, err := h.svc.RequestVerification(ctx, authz.FromContext(ctx))
	if err != nil || !isNeeded {
		return &rest.AcceptedNote{}, err
	}
	return &rest.AcceptedNote{Message: linkSent}, nil
}

type verifyInput struct {
	Body struct {
		Token           string `json:"token" maxLength:"255"`
		CurrentPassword string `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Password of the account. Required for an email change if the request is not authenticated."`
	}
}

// VerifyEmail handles POST /auth/verify-email.
func (h *HTTP) VerifyEmail(ctx context.Context, in *verifyInput) (*rest.Body[rest.Note], error) {
	if err := h.svc.VerifyEmail(ctx, in.Body.Token, in.Body.CurrentPassword); err != nil {
		return nil, err
	}
	return rest.Message("account.email_verified"), nil
}

// UserSession is a login of the caller.
type UserSession struct {
	ID         uuid.UUID  `json:"id"`
	Kind       string     `json:"kind" enum:"session,token"`
	Current    bool       `json:"current" doc:"Whether this is the session of the request."`
	IP         string     `json:"ip"`
	UserAgent  string     `json:"user_agent"`
	CreatedAt  shape.Time `json:"created_at"`
	LastUsedAt shape.Time `json:"last_used_at" doc:"Time of last use, in UTC, to the minute."`
	ExpiresAt  shape.Time `json:"expires_at" doc:"Time at which the session expires if it is not used again, in UTC."`
}

func session(l Login, current uuid.UUID) UserSession {
	return UserSession{
		ID: l.ID, Kind: l.Kind, Current: l.ID == current, IP: l.IP, UserAgent: l.UserAgent,
		CreatedAt: shape.T(l.CreatedAt), LastUsedAt: shape.T(l.LastUsedAt), ExpiresAt: shape.T(l.ExpiresAt),
	}
}

// Sessions handles GET /user/sessions.
func (h *HTTP) Sessions(ctx context.Context, _ *struct{}) (*rest.Data[[]UserSession], error) {
	caller := authz.FromContext(ctx)
	logins, err := h.svc.Logins(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	views := make([]UserSession, len(logins))
	for i, l := range logins {
		views[i] = session(l, caller.Family)
	}
	return rest.OK(views), nil
}

type sessionInput struct {
	ID string `path:"id"`
}

// EndSession handles DELETE /user/sessions/{id}.
func (h *HTTP) EndSession(ctx context.Context, in *sessionInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.ID)
	if err != nil {
		return nil, err
	}
	ended, err := h.svc.deps.Accounts.EndLogin(ctx, authz.FromContext(ctx), id)
	if err == nil && !ended {
		err = errNotFound
	}
	return &rest.NoBody{}, err
}

// EndOtherSessions handles DELETE /user/sessions.
func (h *HTTP) EndOtherSessions(ctx context.Context, _ *struct{}) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.deps.Accounts.EndOtherLogins(ctx, authz.FromContext(ctx))
}

type deleteInput struct {
	Body struct {
		CurrentPassword string `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Current password. Required if the account has a password."`
	}
}

// Delete handles DELETE /user.
func (h *HTTP) Delete(ctx context.Context, in *deleteInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.Delete(ctx, authz.FromContext(ctx), in.Body.CurrentPassword)
}

// Export handles GET /user/export.
func (h *HTTP) Export(ctx context.Context, _ *struct{}) (*rest.Blob, error) {
	file, err := h.svc.Export(ctx, authz.FromContext(ctx).UserID)
	if err != nil {
		return nil, err
	}
	return &rest.Blob{ContentType: "application/json", Stream: file, Length: -1, Disposition: rest.Attachment("account.json")}, nil
}
