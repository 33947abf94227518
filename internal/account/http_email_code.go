package account

import (
	"context"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// registered is the response of register: a login or, without a password, a request for a login
// code.
type registered struct {
	User         SessionUser `json:"user"`
	AccessToken  string      `json:"accessToken,omitempty"`
	RefreshToken string      `json:"refreshToken,omitempty"`
	RequestID    string      `json:"request_id,omitempty" doc:"Only without a password: ID of the request whose code was mailed. Send it with the code to log in."`
	ExpiresAt    *shape.Time `json:"expires_at,omitempty" doc:"Only without a password: time at which the code expires, in UTC."`
}

// registerWithCode registers an account without a password.
func (h *HTTP) registerWithCode(ctx context.Context, r Registration, grant Grant) (*rest.Body[registered], error) {
	user, request, err := h.svc.registerWithoutPassword(ctx, r, grant)
	if err != nil {
		return nil, err
	}
	shown, err := h.svc.sessionUser(ctx, user)
	if err != nil {
		return nil, err
	}
	rest.RequestOf(ctx).KeepBrowserKey(grant.Browser, emailCodeLifetime)
	expires := shape.T(request.expiresAt)
	return rest.NewBody(registered{User: shown, RequestID: request.id, ExpiresAt: &expires}), nil
}

// checkPasswordGiven returns validation errors for a missing password or confirmation. Both can be
// absent if email codes are on.
func (h *HTTP) checkPasswordGiven(ctx context.Context, in *registerInput) error {
	password := in.Body.Password != "" || rest.IsBroken(ctx, "password")
	confirmation := in.Body.PasswordConfirmation != "" || rest.IsBroken(ctx, "password_confirmation")
	if !password && !confirmation && h.svc.deps.EmailCodes {
		return nil
	}
	var missing fault.Fields
	if !password {
		missing.Add("password", "validation.required")
	}
	if !confirmation {
		missing.Add("password_confirmation", "validation.required")
	}
	return missing.Err()
}

type emailCodeInput struct {
	Body struct {
		Email string `json:"email" format:"email" maxLength:"255"`
	}
}

// requestedCode is the response of POST /auth/email-code.
type requestedCode struct {
	RequestID string     `json:"request_id" doc:"ID of the request. Send it with the code to log in."`
	ExpiresAt shape.Time `json:"expires_at" doc:"Time at which the code expires, in UTC."`
}

// RequestCode handles POST /auth/email-code. It returns 202 whether or not an account uses the
// email.
func (h *HTTP) RequestCode(ctx context.Context, in *emailCodeInput) (*rest.Data[requestedCode], error) {
	grant := grantOf(ctx, false)
	request, err := h.svc.requestCode(ctx, in.Body.Email, grant)
	if err != nil {
		return nil, err
	}
	rest.RequestOf(ctx).KeepBrowserKey(grant.Browser, emailCodeLifetime)
	return rest.OK(requestedCode{RequestID: request.id, ExpiresAt: shape.T(request.expiresAt)}), nil
}

type emailCodeLoginInput struct {
	Body struct {
		RequestID  string `json:"request_id" doc:"ID of the request of the code."`
		Code       string `json:"code" doc:"The code from the email."`
		KeepTenant bool   `json:"keep_tenant,omitempty" doc:"Whether to keep the organization of an account whose email was never verified. Use true only if the caller created the organization; otherwise it can belong to a stranger who registered the email. Default: false."`
	}
}

// LogInWithCode handles POST /auth/email-code/login.
func (h *HTTP) LogInWithCode(ctx context.Context, in *emailCodeLoginInput) (*rest.Body[Session], error) {
	grant := grantOf(ctx, false)
	user, tokens, err := h.svc.logInWithCode(ctx, codeLogin{request: in.Body.RequestID, code: in.Body.Code, keepTenant: in.Body.KeepTenant}, grant)
	if err != nil {
		return nil, err
	}
	return h.session(ctx, user, tokens, grant)
}
