package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/avatar"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/account/webpush"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest"
)

// accountRoutes returns the routes of accounts, including delegated login, avatars and push
// messages.
func (svc *service) accountRoutes(accounts *account.HTTP) []rest.Route {
	var (
		oauth      = oauth.NewHTTP(svc.oauth, accounts)
		avatars    = avatar.NewHTTP(svc.avatars)
		pushes     = webpush.NewHTTP(svc.pushes)
		redirected = rest.Status(http.StatusFound)
		created    = rest.Status(http.StatusCreated)
	)
	byEmail := rest.LimitByField("email", mail.NormalizeAddress, "login_address")
	return []rest.Route{
		route(post, "/api/v1/auth/register", rest.Public, "", "register", "Register an account and its first tenant", rest.Handle(accounts.Register, created, rest.Checks(accounts.CheckRegister))),
		route(post, "/api/v1/auth/login", rest.Public, "", "login", "Log in with email and password", rest.Handle(accounts.Login, byEmail)),
		route(post, "/api/v1/auth/refresh", rest.Public, "", "refresh", "Exchange a refresh token for a new pair", rest.Handle(accounts.Refresh)),
		allowExpiredImpersonation(route(post, "/api/v1/auth/logout", rest.User, "", "default", "Log out and revoke all refresh tokens", rest.Handle(accounts.Logout))),
		route(post, "/api/v1/auth/forgot-password", rest.Public, "", "password", "Send a password reset link", rest.Handle(accounts.ForgotPassword)),
		route(post, "/api/v1/auth/reset-password", rest.Public, "", "password", "Set a new password by the token of a mail", rest.Handle(accounts.ResetPassword, rest.Checks(accounts.CheckReset))),
		route(get, "/api/v1/auth/me", rest.User, "", "default", "Show the caller's profile", rest.Handle(accounts.Me)),
		route(get, "/api/v1/auth/oauth/providers", rest.Public, "", "default", "List the configured identity providers", rest.Handle(oauth.Providers)),
		route(get, "/api/v1/auth/oauth/{provider}/redirect", rest.Public, "", "oauth", "Start a login at an identity provider", rest.Handle(oauth.Redirect, redirected)),
		route(get, "/api/v1/auth/oauth/{provider}/callback", rest.Public, "", "oauth", "Handle the return from an identity provider", rest.Handle(oauth.Callback, redirected)),
		route(post, "/api/v1/auth/oauth/exchange", rest.Public, "", "oauth", "Exchange the one-time code of a delegated login for a session or tokens", rest.Handle(oauth.Exchange)),
		route(get, "/api/v1/avatars/{hash}", rest.Public, "", "default", "Show a user's picture", rest.File(avatars.Show, "image/jpeg", "image/png")),
		refuseImpersonation(route(post, "/api/v1/user/avatar", rest.User, "", "avatar", "Upload the caller's picture", rest.Upload("avatar", avatar.MaxBytes, avatars.Upload))),
		refuseImpersonation(route(del, "/api/v1/user/avatar", rest.User, "", "avatar", "Delete the caller's picture", rest.Handle(avatars.Delete))),
		route(get, "/api/v1/push-subscriptions", rest.User, "", "push", "List the browsers that get the caller's push notifications", rest.Handle(pushes.List)),
		refuseImpersonation(route(post, "/api/v1/push-subscriptions", rest.User, "", "push", "Subscribe a browser to push notifications", rest.Handle(pushes.Subscribe, created, rest.Checks(pushes.CheckSubscribe)))),
		refuseImpersonation(route(del, "/api/v1/push-subscriptions", rest.User, "", "push", "Unsubscribe a browser from push notifications", rest.Handle(pushes.Unsubscribe))),
	}
}
