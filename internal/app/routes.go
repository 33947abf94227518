package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/onboarding"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
)

const (
	get   = http.MethodGet
	post  = http.MethodPost
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// routes is the one table of everything that the service answers under /api/v1:
// method, path, scope (which guards run), permission, rate-limit group, a line
// for the reference, and the handler.
func (svc *service) routes() []rest.Route {
	var (
		accounts      = account.NewHTTP(svc.accounts, svc.avatars)
		oauth         = account.NewOAuthHTTP(svc.oauth, accounts)
		avatars       = account.NewAvatarHTTP(svc.avatars)
		pushes        = account.NewPushHTTP(svc.pushes)
		settings      = svc.publicSettings()
		tenants       = tenant.NewHTTP(svc.tenants)
		onboarding    = onboarding.NewHTTP(svc.tenants)
		plans         = catalog.NewHTTP(svc.catalog, svc.settings.PublicURL.String())
		subscriptions = subscription.NewHTTP(svc.subscriptions)
		meters        = usage.NewHTTP(svc.usage)
		created       = rest.Status(http.StatusCreated)
		redirected    = rest.Status(http.StatusFound)
	)
	const of = "/api/v1/tenant/{tenantId}"
	return []rest.Route{
		route(post, "/api/v1/auth/register", rest.Public, "", "register", "Register an account and its first tenant", rest.Handle(accounts.Register, created)),
		route(post, "/api/v1/auth/login", rest.Public, "", "login", "Log in with email and password", rest.Handle(accounts.Login)),
		route(post, "/api/v1/auth/refresh", rest.Public, "", "refresh", "Trade a refresh token for a new pair", rest.Handle(accounts.Refresh)),
		route(post, "/api/v1/auth/logout", rest.User, "", "default", "End the login and all refresh tokens", rest.Handle(accounts.Logout)),
		route(post, "/api/v1/auth/forgot-password", rest.Public, "", "password", "Have a reset link mailed", rest.Handle(accounts.ForgotPassword)),
		route(post, "/api/v1/auth/reset-password", rest.Public, "", "password", "Set a new password by the token of a mail", rest.Handle(accounts.ResetPassword)),
		route(get, "/api/v1/auth/me", rest.User, "", "default", "Show the caller's profile", rest.Handle(accounts.Me)),

		route(get, "/api/v1/auth/oauth/providers", rest.Public, "", "default", "List the configured identity providers", rest.Handle(oauth.Providers)),
		route(get, "/api/v1/auth/oauth/{provider}/redirect", rest.Public, "", "oauth", "Begin a login at an identity provider", rest.Handle(oauth.Redirect, redirected)),
		route(get, "/api/v1/auth/oauth/{provider}/callback", rest.Public, "", "oauth", "Receive the browser back from an identity provider", rest.Handle(oauth.Callback, redirected)),
		route(post, "/api/v1/auth/oauth/exchange", rest.Public, "", "oauth", "Trade the one-time code of a delegated login for a session or tokens", rest.Handle(oauth.Exchange)),

		route(get, "/api/v1/settings", rest.Public, "", "catalog", "Show the settings that a frontend needs", rest.Handle(settings.Show)),
		route(get, "/api/v1/avatars/{hash}", rest.Public, "", "default", "Show a user's picture", rest.File(avatars.Show, "image/jpeg", "image/png")),
		route(post, "/api/v1/user/avatar", rest.User, "", "avatar", "Upload the caller's picture", rest.Upload("avatar", account.MaxAvatarBytes, avatars.Upload)),
		route(del, "/api/v1/user/avatar", rest.User, "", "avatar", "Delete the caller's picture", rest.Handle(avatars.Delete)),
		route(get, "/api/v1/push-subscriptions", rest.User, "", "push", "List the browsers that get the caller's push messages", rest.Handle(pushes.List)),
		route(post, "/api/v1/push-subscriptions", rest.User, "", "push", "Subscribe a browser to push messages", rest.Handle(pushes.Subscribe, created)),
		route(del, "/api/v1/push-subscriptions", rest.User, "", "push", "End a browser's subscription", rest.Handle(pushes.Unsubscribe)),
		route(get, "/api/v1/studio/access", rest.Member, "", "studio", "Tell whether the tenant may use the studio", rest.Handle(subscriptions.StudioAccess)),

		route(patch, "/api/v1/onboarding/complete-setup", rest.Member, "", "onboarding", "Fill billing details and complete the onboarding", rest.Handle(onboarding.CompleteSetup)),
		route(post, "/api/v1/tenants", rest.User, "", "default", "Make a tenant, for a caller without one", rest.Handle(tenants.Create, created)),
		route(get, "/api/v1/tenant", rest.Tenant, "", "default", "Show the caller's tenant", rest.Handle(tenants.Show)),

		route(get, "/api/v1/catalog/products", rest.Public, "", "catalog", "List active products", rest.Cached(plans.Products)),
		route(get, "/api/v1/catalog/plans", rest.Public, "", "catalog", "List active plans", rest.Cached(plans.Plans)),
		route(get, "/api/v1/catalog/features", rest.Public, "", "catalog", "List active features", rest.Cached(plans.Features)),
		route(get, "/api/v1/currencies", rest.Public, "", "catalog", "List active currencies", rest.Cached(plans.Currencies)),

		route(get, of+"/plans", rest.Tenant, "", "default", "List plans with the tenant's eligibility", rest.Handle(subscriptions.Plans)),
		route(post, of+"/checkout", rest.Tenant, authz.BillingManage, "default", "Open a hosted checkout", rest.Handle(subscriptions.Checkout)),
		route(get, of+"/subscription", rest.Tenant, "", "default", "Show the subscription", rest.Handle(subscriptions.Show)),
		route(get, of+"/entitlements", rest.Tenant, "", "default", "List what the subscription entitles to", rest.Handle(subscriptions.Entitlements)),

		route(post, of+"/usage", rest.Tenant, "", "usage", "Record usage", rest.Handle(meters.Record, created)),
		route(get, of+"/usage", rest.Tenant, "", "default", "Summarize the usage of the current period", rest.Handle(meters.Summary)),
		route(get, of+"/usage/quotas", rest.Tenant, "", "default", "Show usage against quotas", rest.Handle(meters.Quotas)),
		route(get, of+"/usage/{meterCode}", rest.Tenant, "", "default", "Show one meter with its newest events", rest.Handle(meters.Meter)),

		route(post, "/api/v1/webhooks/stripe", rest.Public, "", "", "Receive a signed notification of the payment provider", rest.Raw(svc.receiver, "application/json")),

		route(get, "/api/v1/admin/products", rest.Admin, "products.view", "default", "List products", rest.Handle(plans.AdminProducts)),
		route(get, "/api/v1/admin/products/{product}", rest.Admin, "products.view", "default", "Show a product", rest.Handle(plans.AdminProduct)),
	}
}

// route is one row of the table.
func route(method, path string, scope rest.Scope, permission, rate, summary string, h rest.Handler) rest.Route {
	return rest.Route{
		Method: method, Path: path, Scope: scope, Permission: permission, Rate: rate, Summary: summary, Handler: h,
	}
}
