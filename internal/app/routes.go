package app

import (
	"net/http"
	"slices"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
)

// routes is the one table of everything that the service answers under /api/v1:
// method, path, scope (which guards run), permission, rate-limit group, a line
// for the reference, and the handler. Each domain has a part of it, in
// routes_*.go.
func (svc *service) routes() []rest.Route {
	accounts := account.NewHTTP(svc.accounts, svc.avatars)
	members := team.NewHTTP(svc.team, accounts, svc.publicURL)
	plans := catalog.NewHTTP(svc.catalog, svc.publicURL)
	return slices.Concat(
		svc.accountRoutes(accounts),
		svc.ownAccountRoutes(accounts),
		svc.onboardingRoutes(accounts),
		svc.tenantRoutes(members),
		svc.apiKeyRoutes(),
		svc.webhookRoutes(),
		svc.teamRoutes(members),
		svc.catalogRoutes(plans),
		svc.priceLinkRoutes(plans),
		svc.currencyRoutes(plans),
		svc.subscriptionRoutes(members),
		svc.usageRoutes(),
		svc.invoiceRoutes(),
		svc.platformRoutes(),
	)
}

// The methods of the table.
const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// What several paths begin with.
const (
	tenantPath      = "/api/v1/tenant/{tenantId}"
	adminTenantPath = "/api/v1/admin/tenants/{tenant}"
	planPath        = "/api/v1/admin/plans/{plan}"
)

// refuseImpersonation makes a route one that is refused while impersonating.
func refuseImpersonation(r rest.Route) rest.Route {
	r.InPerson = true
	return r
}

// allowAnonymous makes a public route one that looks its caller up if the request has a credential.
func allowAnonymous(r rest.Route) rest.Route {
	r.Optional = true
	return r
}

// allowExpiredImpersonation opens a route to an impersonation that has ended but was not stopped.
func allowExpiredImpersonation(r rest.Route) rest.Route {
	r.AfterExpiry = true
	return r
}

// requireVerifiedEmail closes a route to callers whose email nobody has proved, where the settings say
// so.
func requireVerifiedEmail(r rest.Route) rest.Route {
	r.Verified = true
	return r
}

// allowAPIKeys opens a route to API keys with a scope. Every other route is closed to them.
func allowAPIKeys(scope string, r rest.Route) rest.Route {
	r.KeyScope = scope
	return r
}

// route is one row of the table.
func route(method, path string, scope rest.Scope, permission, rate, summary string, h rest.Handler) rest.Route {
	return rest.Route{
		Method: method, Path: path, Scope: scope, Permission: permission, Rate: rate, Summary: summary, Handler: h,
	}
}
