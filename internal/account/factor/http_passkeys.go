package factor

import (
	"context"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

func optionsView(o Options, err error) (*rest.Data[PasskeyOptions], error) {
	if err != nil {
		return nil, err
	}
	return rest.OK(PasskeyOptions{o.ChallengeID, o.JSON}), nil
}

// RegistrationOptions handles POST /user/passkeys/options.
func (h *HTTP) RegistrationOptions(ctx context.Context, in *confirmedInput) (*rest.Data[PasskeyOptions], error) {
	return optionsView(h.svc.RegistrationOptions(ctx, authz.FromContext(ctx), in.Body.Confirmation))
}

// ConfirmationOptions handles POST /user/passkeys/assertion-options.
func (h *HTTP) ConfirmationOptions(ctx context.Context, _ *struct{}) (*rest.Data[PasskeyOptions], error) {
	return optionsView(h.svc.ConfirmationOptions(ctx, authz.FromContext(ctx)))
}

type passkeyInput struct {
	Body struct {
		ChallengeID string       `json:"challenge_id" doc:"ID of the challenge in the options."`
		Name        string       `json:"name" format:"name" minLength:"1" maxLength:"255" example:"MacBook"`
		Credential  shape.Object `json:"credential" maxBytes:"65536" doc:"The public key credential of the browser, as JSON."`
	}
}

// PasskeyAdded is the response of POST /user/passkeys.
type PasskeyAdded struct {
	Data          PasskeyView `json:"data"`
	RecoveryCodes []string    `json:"recovery_codes,omitempty" doc:"Recovery codes, shown once. Absent if the user already has codes."`
}

// AddPasskey handles POST /user/passkeys.
func (h *HTTP) AddPasskey(ctx context.Context, in *passkeyInput) (*rest.Body[PasskeyAdded], error) {
	p, codes, err := h.svc.AddPasskey(ctx, authz.FromContext(ctx), NewPasskey{
		ChallengeID: in.Body.ChallengeID, Name: in.Body.Name, Credential: in.Body.Credential,
	})
	if err != nil {
		return nil, err
	}
	return rest.NewBody(PasskeyAdded{passkeyView(p), codes}), nil
}

// PasskeyExists returns an error (404) if the caller lacks the passkey of the path. See
// rest.Exists.
func (h *HTTP) PasskeyExists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("id"))
	if err != nil {
		return err
	}
	_, err = h.svc.passkey(ctx, authz.FromContext(ctx).UserID, id)
	return err
}

type renameInput struct {
	ID   string `path:"id"`
	Body struct {
		Name string `json:"name" format:"name" minLength:"1" maxLength:"255" example:"MacBook"`
	}
}

// RenamePasskey handles PATCH /user/passkeys/{id}.
func (h *HTTP) RenamePasskey(ctx context.Context, in *renameInput) (*rest.Data[PasskeyView], error) {
	id, err := shape.ParseID(in.ID)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.RenamePasskey(ctx, authz.FromContext(ctx), id, in.Body.Name)
	if err != nil {
		return nil, err
	}
	return rest.OK(passkeyView(p)), nil
}

type removeInput struct {
	ID   string `path:"id"`
	Body struct {
		Confirmation
	}
}

// RemovePasskey handles DELETE /user/passkeys/{id}.
func (h *HTTP) RemovePasskey(ctx context.Context, in *removeInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.ID)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.RemovePasskey(ctx, authz.FromContext(ctx), id, in.Body.Confirmation)
}

// optionalCredential is a credential that is absent, null or an empty string if the request has
// another factor.
type optionalCredential struct{ shape.Object }

// Schema returns the schema of the type.
func (optionalCredential) Schema(r *shape.Registry) *shape.Schema {
	s := shape.Object{}.Schema(r)
	s.TakesEmpty = true
	return s
}

// The strings do not have a maximum length: a string that is too long is a wrong code or an unknown
// challenge, like any malformed string.
type secondFactorInput struct {
	Body struct {
		Challenge    string             `json:"challenge" format:"password" minLength:"1" doc:"The challenge of the login."`
		Code         shape.Opt[string]  `json:"code,omitzero" nullable:"true" format:"password" doc:"Code of the authenticator app. Exactly one of code, recovery_code and credential is required."`
		RecoveryCode shape.Opt[string]  `json:"recovery_code,omitzero" nullable:"true" format:"password" doc:"A recovery code."`
		Credential   optionalCredential `json:"credential,omitzero" nullable:"true" maxBytes:"65536" doc:"The public key credential of the browser, as JSON."`
		Remember     shape.Opt[bool]    `json:"remember,omitzero" doc:"Whether to keep the cookie session for 30 days without use. Default: the value of the login."`
	}
}

// CheckSecondFactor returns a validation error unless exactly one factor is given. See rest.Checks.
func (h *HTTP) CheckSecondFactor(ctx context.Context, in *secondFactorInput) error {
	given := 0
	for _, isGiven := range []bool{
		in.Body.Code.Value != "" || rest.IsBroken(ctx, "code"), in.Body.RecoveryCode.Value != "" || rest.IsBroken(ctx, "recovery_code"),
		len(in.Body.Credential.Object) > 0 || rest.IsBroken(ctx, "credential"),
	} {
		if isGiven {
			given++
		}
	}
	if given != 1 {
		return errOneFactor
	}
	return nil
}

// SecondFactorSession is the response of POST /auth/mfa: the response of the completed login.
type SecondFactorSession struct {
	User         account.SessionUser `json:"user"`
	IsNewUser    *bool               `json:"isNewUser,omitempty" doc:"Only after a delegated login: whether the login created the account."`
	AccessToken  string              `json:"accessToken,omitempty"`
	RefreshToken string              `json:"refreshToken,omitempty"`
}

// CompleteLogin handles POST /auth/mfa.
func (h *HTTP) CompleteLogin(ctx context.Context, in *secondFactorInput) (*rest.Body[SecondFactorSession], error) {
	if err := h.CheckSecondFactor(ctx, in); err != nil {
		return nil, err
	}
	a := Attempt{
		Challenge: in.Body.Challenge, Code: in.Body.Code.Value, RecoveryCode: in.Body.RecoveryCode.Value, Credential: in.Body.Credential.Object,
		Remember: in.Body.Remember.Or(nil),
	}
	grant := account.GrantOf(ctx)
	user, tokens, login, err := h.svc.CompleteLogin(ctx, a, grant)
	if err != nil {
		return nil, err
	}
	grant.Remember = login.Remember
	session, err := h.accounts.SessionOf(ctx, user, tokens, grant)
	if err != nil {
		return nil, err
	}
	v := SecondFactorSession{User: session.User, AccessToken: session.AccessToken, RefreshToken: session.RefreshToken}
	if login.Provider != "" {
		v.IsNewUser = &login.IsNew
	}
	return rest.NewBody(v), nil
}

type challengeInput struct {
	Body struct {
		Challenge string `json:"challenge" format:"password" minLength:"1" doc:"The challenge of the login."`
	}
}

// SecondFactorOptions handles POST /auth/mfa/passkey-options.
func (h *HTTP) SecondFactorOptions(ctx context.Context, in *challengeInput) (*rest.Data[shape.Object], error) {
	options, err := h.svc.SecondFactorOptions(ctx, in.Body.Challenge, account.GrantOf(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(shape.Object(options)), nil
}

// LoginOptions handles POST /auth/passkey/options.
func (h *HTTP) LoginOptions(ctx context.Context, _ *struct{}) (*rest.Data[PasskeyOptions], error) {
	return optionsView(h.svc.LoginOptions(ctx))
}

type passkeyLoginInput struct {
	Body struct {
		ChallengeID string       `json:"challenge_id" doc:"ID of the challenge in the options."`
		Credential  shape.Object `json:"credential" maxBytes:"65536" doc:"The public key credential of the browser, as JSON."`
	}
}

// LogIn handles POST /auth/passkey.
func (h *HTTP) LogIn(ctx context.Context, in *passkeyLoginInput) (*rest.Body[account.Session], error) {
	grant := account.GrantOf(ctx)
	user, tokens, err := h.svc.LogIn(ctx, in.Body.ChallengeID, in.Body.Credential, grant)
	if err != nil {
		return nil, err
	}
	session, err := h.accounts.SessionOf(ctx, user, tokens, grant)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(session), nil
}
