package factor

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP implements the handlers for second factors.
type HTTP struct {
	svc      *Service
	accounts *account.HTTP
}

// NewHTTP returns the handlers. accounts creates the responses of logins.
func NewHTTP(svc *Service, accounts *account.HTTP) *HTTP { return &HTTP{svc: svc, accounts: accounts} }

// Factors are the second factors of a user.
type Factors struct {
	HasPassword   bool               `json:"has_password" doc:"Whether the account has a password, which confirms requests."`
	TOTP          *AuthenticatorApp  `json:"totp" doc:"The authenticator app. Null without a confirmed app."`
	Passkeys      []PasskeyView      `json:"passkeys" doc:"Passkeys, oldest first."`
	RecoveryCodes *RecoveryCodesLeft `json:"recovery_codes" doc:"The recovery codes. Null without a second factor."`
	MFAEnabled    bool               `json:"mfa_enabled" doc:"Whether the user has a second factor: an authenticator app or a passkey."`
}

// AuthenticatorApp is a confirmed authenticator app.
type AuthenticatorApp struct {
	CreatedAt  shape.Time  `json:"created_at"`
	LastUsedAt *shape.Time `json:"last_used_at" doc:"Time of the last use, in UTC. Null before the first use."`
}

// PasskeyView is a passkey in the API.
type PasskeyView struct {
	ID         uuid.UUID   `json:"id"`
	Name       string      `json:"name"`
	CreatedAt  shape.Time  `json:"created_at"`
	LastUsedAt *shape.Time `json:"last_used_at" doc:"Time of the last use, in UTC. Null before the first use."`
	Synced     bool        `json:"synced" doc:"Whether the passkey was backed up at its last use, for example in the account of a platform."`
}

// RecoveryCodesLeft counts the recovery codes of a user.
type RecoveryCodesLeft struct {
	Remaining int64 `json:"remaining" doc:"Number of unused recovery codes."`
}

// RecoveryCodes are new recovery codes, which are shown once.
type RecoveryCodes struct {
	RecoveryCodes *[]string `json:"recovery_codes" doc:"Recovery codes, shown once. Null if the user already has codes."`
}

func newRecoveryCodes(codes []string) RecoveryCodes {
	if codes == nil {
		return RecoveryCodes{}
	}
	return RecoveryCodes{&codes}
}

// PasskeyOptions are the options of a WebAuthn ceremony.
type PasskeyOptions struct {
	ChallengeID uuid.UUID    `json:"challenge_id" doc:"ID of the challenge, valid for 5 minutes. Send it with the credential."`
	Options     shape.Object `json:"options" doc:"Options for the browser's WebAuthn API, in JSON with base64url."`
}

func passkeyView(p Passkey) PasskeyView {
	return PasskeyView{ID: p.ID, Name: p.Name, CreatedAt: shape.T(p.CreatedAt), LastUsedAt: shape.TP(p.LastUsedAt), Synced: p.IsSynced()}
}

// Show handles GET /user/factors.
func (h *HTTP) Show(ctx context.Context, _ *struct{}) (*rest.Data[Factors], error) {
	userID := authz.FromContext(ctx).UserID
	o, err := h.svc.Overview(ctx, userID)
	if err != nil {
		return nil, err
	}
	v := Factors{MFAEnabled: o.IsEnabled(), Passkeys: make([]PasskeyView, len(o.Passkeys))}
	if v.HasPassword, err = h.svc.deps.Accounts.HasPassword(ctx, userID); err != nil {
		return nil, err
	}
	for i, p := range o.Passkeys {
		v.Passkeys[i] = passkeyView(p)
	}
	if o.TOTP != nil {
		v.TOTP = &AuthenticatorApp{CreatedAt: shape.T(o.TOTP.CreatedAt), LastUsedAt: shape.TP(o.TOTP.LastUsedAt)}
	}
	if o.HasRecoveryCodes {
		v.RecoveryCodes = &RecoveryCodesLeft{Remaining: o.Remaining}
	}
	return rest.OK(v), nil
}

type confirmedInput struct {
	Body struct {
		Confirmation
	}
}

// TOTPEnrollment is a new authenticator app, which is shown once.
type TOTPEnrollment struct {
	Secret     string `json:"secret" doc:"Secret of the authenticator app, in base32. It is shown once."`
	OTPAuthURL string `json:"otpauth_url" doc:"The content of the QR code."`
	QRSVG      string `json:"qr_svg" doc:"The QR code as an SVG document."`
}

// EnrollTOTP handles POST /user/factors/totp.
func (h *HTTP) EnrollTOTP(ctx context.Context, in *confirmedInput) (*rest.Data[TOTPEnrollment], error) {
	e, err := h.svc.EnrollTOTP(ctx, authz.FromContext(ctx), in.Body.Confirmation)
	if err != nil {
		return nil, err
	}
	return rest.OK(TOTPEnrollment{Secret: e.Secret, OTPAuthURL: e.URL, QRSVG: e.QR}), nil
}

type codeInput struct {
	Body struct {
		Code string `json:"code" format:"password" maxLength:"255" doc:"Code of the authenticator app."`
	}
}

// ConfirmTOTP handles POST /user/factors/totp/confirm.
func (h *HTTP) ConfirmTOTP(ctx context.Context, in *codeInput) (*rest.Data[RecoveryCodes], error) {
	codes, err := h.svc.ConfirmTOTP(ctx, authz.FromContext(ctx), in.Body.Code)
	if err != nil {
		return nil, err
	}
	return rest.OK(newRecoveryCodes(codes)), nil
}

// RemoveTOTP handles DELETE /user/factors/totp.
func (h *HTTP) RemoveTOTP(ctx context.Context, in *confirmedInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.RemoveTOTP(ctx, authz.FromContext(ctx), in.Body.Confirmation)
}

// TOTPExists returns an error (404) if the caller lacks an authenticator app. See rest.Exists.
func (h *HTTP) TOTPExists(ctx context.Context, _ func(string) string) error {
	return h.svc.checkTOTP(ctx, authz.FromContext(ctx).UserID)
}

// GenerateRecoveryCodes handles POST /user/recovery-codes.
func (h *HTTP) GenerateRecoveryCodes(ctx context.Context, in *confirmedInput) (*rest.Data[RecoveryCodes], error) {
	codes, err := h.svc.GenerateRecoveryCodes(ctx, authz.FromContext(ctx), in.Body.Confirmation)
	if err != nil {
		return nil, err
	}
	return rest.OK(newRecoveryCodes(codes)), nil
}
