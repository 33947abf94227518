package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
)

// factorRoutes returns the routes of second factors and of logins with them. The public routes
// share the rate limit for logins from an IP address, because their requests contain no email.
func (svc *service) factorRoutes(accounts *account.HTTP) []rest.Route {
	var (
		factors = factor.NewHTTP(svc.factors, accounts)
		created = rest.Status(http.StatusCreated)
		app     = rest.Exists(factors.TOTPExists)
		passkey = rest.Exists(factors.PasskeyExists)
		login   = svc.requireMethod(settings.PasskeyLogin)
	)
	return []rest.Route{
		route(get, "/api/v1/user/factors", rest.User, "", "default", "List second factors", rest.Handle(factors.Show)),
		requireProvedEmail(refuseImpersonation(route(post, "/api/v1/user/factors/totp", rest.User, "", "account_password", "Add an authenticator app", rest.Handle(factors.EnrollTOTP, created)))),
		refuseImpersonation(route(post, "/api/v1/user/factors/totp/confirm", rest.User, "", "default", "Confirm an authenticator app", rest.Handle(factors.ConfirmTOTP))),
		refuseImpersonation(route(del, "/api/v1/user/factors/totp", rest.User, "", "account_password", "Remove the authenticator app", rest.Handle(factors.RemoveTOTP, app))),
		requireProvedEmail(refuseImpersonation(route(post, "/api/v1/user/passkeys/options", rest.User, "", "account_password", "Create options for a new passkey", rest.Handle(factors.RegistrationOptions)))),
		refuseImpersonation(route(post, "/api/v1/user/passkeys/assertion-options", rest.User, "", "default", "Create options to confirm with a passkey", rest.Handle(factors.ConfirmationOptions))),
		refuseImpersonation(route(post, "/api/v1/user/passkeys", rest.User, "", "default", "Add a passkey", rest.Handle(factors.AddPasskey, created))),
		refuseImpersonation(route(patch, "/api/v1/user/passkeys/{id}", rest.User, "", "default", "Rename a passkey", rest.Handle(factors.RenamePasskey, passkey))),
		refuseImpersonation(route(del, "/api/v1/user/passkeys/{id}", rest.User, "", "account_password", "Remove a passkey", rest.Handle(factors.RemovePasskey, passkey))),
		refuseImpersonation(route(post, "/api/v1/user/recovery-codes", rest.User, "", "account_password", "Generate recovery codes", rest.Handle(factors.GenerateRecoveryCodes))),
		route(post, "/api/v1/auth/mfa", rest.Public, "", "login_address", "Complete a login with a second factor", rest.Handle(factors.CompleteLogin, rest.Checks(factors.CheckSecondFactor))),
		route(post, "/api/v1/auth/mfa/passkey-options", rest.Public, "", "login_address", "Create options to complete a login with a passkey", rest.Handle(factors.SecondFactorOptions)),
		route(post, "/api/v1/auth/passkey/options", rest.Public, "", "login_address", "Create options to log in with a passkey", rest.Handle(factors.LoginOptions, login)),
		route(post, "/api/v1/auth/passkey", rest.Public, "", "login_address", "Log in with a passkey", rest.Handle(factors.LogIn, login)),
	}
}
