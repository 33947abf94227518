package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/account/webpush"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/token"
)

// accountRoutes returns the routes of accounts, including delegated login, avatars and push
// messages.
func (svc *service) accountRoutes(accounts *account.HTTP) []rest.Route {
	var (
		oauth   = oauth.NewHTTP(svc.oauth, accounts)
		avatars = avatar.NewHTTP(svc.avatars)
		pushes  = webpush.NewHTTP(svc.pushes)

		backendTokens = token.NewHTTP(svc.tokens, svc.signingKeys)

		redirected = rest.Status(http.StatusFound)
		created    = rest.Status(http.StatusCreated)
		accepted   = rest.Status(http.StatusAccepted)

		password  = svc.requireMethod(settings.PasswordLogin)
		delegated = svc.requireMethod(settings.OAuthLogin)
		emailCode = svc.requireMethod(settings.EmailCodeLogin)
	)
	byEmail := rest.LimitByField("email", mail.NormalizeAddress, "login_address")
	return []rest.Route{
		route(post, "/api/v1/auth/register", rest.Public, "", "register", "Register an account", rest.Handle(accounts.Register, created, rest.Checks(accounts.CheckRegister))),
		route(post, "/api/v1/auth/login", rest.Public, "", "login", "Log in with email and password", rest.Handle(accounts.Login, byEmail, password)),
		route(post, "/api/v1/auth/email-code", rest.Public, "", "login_address", "Request a login code", rest.Handle(accounts.RequestCode, accepted, emailCode)),
		route(post, "/api/v1/auth/email-code/login", rest.Public, "", "login_address", "Log in with a code", rest.Handle(accounts.LogInWithCode, emailCode)),
		route(post, "/api/v1/auth/refresh", rest.Public, "", "refresh", "Refresh tokens", rest.Handle(accounts.Refresh)),
		allowExpiredImpersonation(route(post, "/api/v1/auth/logout", rest.User, "", "default", "Log out", rest.Handle(accounts.Logout))),
		route(post, "/api/v1/auth/forgot-password", rest.Public, "", "password", "Request a password reset", rest.Handle(accounts.ForgotPassword, password)),
		route(post, "/api/v1/auth/reset-password", rest.Public, "", "password", "Reset a password", rest.Handle(accounts.ResetPassword, password, rest.Checks(accounts.CheckReset))),
		checkMembership(route(post, "/api/v1/auth/token", rest.User, "", "default", "Create a token for a backend", rest.Handle(backendTokens.Issue))),
		route(get, "/.well-known/jwks.json", rest.Public, "", "catalog", "List signing keys", rest.Handle(backendTokens.KeySet)),
		route(get, "/api/v1/auth/me", rest.User, "", "default", "Retrieve the caller's profile", rest.Handle(accounts.Me)),
		route(get, "/api/v1/auth/oauth/providers", rest.Public, "", "default", "List identity providers", rest.Handle(oauth.Providers)),
		route(get, "/api/v1/auth/oauth/{provider}/redirect", rest.Public, "", "oauth", "Start a delegated login", rest.Handle(oauth.Redirect, redirected, delegated)),
		route(get, "/api/v1/auth/oauth/{provider}/callback", rest.Public, "", "oauth", "Finish a delegated login", rest.Handle(oauth.Callback, redirected, delegated)),
		precheck(oauth.CheckExchange, route(post, "/api/v1/auth/oauth/exchange", rest.Public, "", "oauth", "Exchange a login code", rest.Handle(oauth.Exchange))),
		route(get, "/api/v1/avatars/{hash}", rest.Public, "", "default", "Retrieve a user's picture", rest.File(avatars.Show, "image/jpeg", "image/png")),
		refuseImpersonation(route(post, "/api/v1/user/avatar", rest.User, "", "avatar", "Upload the caller's picture", rest.Upload("avatar", avatar.MaxBytes, avatars.Upload))),
		refuseImpersonation(route(del, "/api/v1/user/avatar", rest.User, "", "avatar", "Delete the caller's picture", rest.Handle(avatars.Delete))),
		route(get, "/api/v1/push-subscriptions", rest.User, "", "push", "List push subscriptions", rest.Handle(pushes.List)),
		refuseImpersonation(route(post, "/api/v1/push-subscriptions", rest.User, "", "push", "Create a push subscription", rest.Handle(pushes.Subscribe, created, rest.Checks(pushes.CheckSubscribe)))),
		refuseImpersonation(route(del, "/api/v1/push-subscriptions", rest.User, "", "push", "Delete a push subscription", rest.Handle(pushes.Unsubscribe))),
	}
}
