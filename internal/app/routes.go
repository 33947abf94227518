package app

import (
	"context"
	"net/http"
	"slices"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
)

// routes returns the table of all routes under /api/v1. A route has a method, a path, a scope (the
// guards that run), a permission, a rate-limit group, a summary for the reference, and a handler.
// The domains' parts are in routes_*.go.
func (svc *service) routes() []rest.Route {
	accounts := account.NewHTTP(svc.accounts, svc.avatars)
	members := team.NewHTTP(svc.team, accounts, svc.publicURL)
	plans := catalog.NewHTTP(svc.catalog, svc.publicURL)
	return slices.Concat(
		svc.accountRoutes(accounts),
		svc.ownAccountRoutes(accounts),
		svc.factorRoutes(accounts),
		svc.onboardingRoutes(accounts),
		svc.tenantRoutes(members),
		svc.apiKeyRoutes(members),
		svc.webhookRoutes(members),
		svc.teamRoutes(members),
		svc.signOnRoutes(accounts),
		svc.catalogRoutes(plans),
		svc.priceLinkRoutes(plans),
		svc.currencyRoutes(plans),
		svc.subscriptionRoutes(members),
		svc.usageRoutes(members),
		svc.invoiceRoutes(),
		svc.acrossRoutes(),
		svc.platformRoutes(),
	)
}

// The methods of the routes.
const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// Common path prefixes.
const (
	tenantPath      = "/api/v1/tenant/{tenantId}"
	adminTenantPath = "/api/v1/admin/tenants/{tenant}"
	planPath        = "/api/v1/admin/plans/{plan}"
)

// requireMethod closes a public route, before validation, if the settings disable a login method.
func (svc *service) requireMethod(method string) rest.Option {
	err := svc.checkMethod(method)
	return rest.Exists(func(context.Context, func(string) string) error { return err })
}

var errMethodDisabled = fault.NewCoded(fault.Forbidden, fault.LoginMethodDisabled)

// checkMethod returns an error (403) if the settings disable a login method.
func (p *platform) checkMethod(method string) error {
	if p.settings.AllowsLogin(method) {
		return nil
	}
	return errMethodDisabled
}

// precheck adds a check that runs before validation and can read the body.
func precheck(check func(ctx context.Context, field func(name string) string) error, r rest.Route) rest.Route {
	r.Precheck = check
	return r
}

// refuseImpersonation closes a route to impersonated sessions.
func refuseImpersonation(r rest.Route) rest.Route {
	r.Extra = append(r.Extra, rest.ImpersonationRefuse)
	return r
}

// refuseFieldsInImpersonation refuses requests with one of the fields in impersonated sessions.
func refuseFieldsInImpersonation(fields []string, r rest.Route) rest.Route {
	r.InPersonFields = fields
	return r
}

// allowAnonymous makes a public route authenticate requests that have a credential.
func allowAnonymous(r rest.Route) rest.Route {
	r.Optional = true
	return r
}

// allowExpiredImpersonation opens a route to impersonations that have expired but were not stopped.
func allowExpiredImpersonation(r rest.Route) rest.Route {
	r.AfterExpiry = true
	return r
}

// requireVerifiedEmail closes a route to callers with an unverified email address, if the settings
// require verification.
func requireVerifiedEmail(r rest.Route) rest.Route {
	r.Extra = append(r.Extra, rest.EmailVerified)
	return r
}

// requireProvedEmail closes a route to callers with an unverified email address, whatever the
// settings.
func requireProvedEmail(r rest.Route) rest.Route {
	r.Extra = append(r.Extra, rest.EmailProved)
	return r
}

// checkMembership guards a route outside of the tenant's paths: it rejects members whose tenant
// requires single sign-on or a second factor that their login lacks.
func checkMembership(r rest.Route) rest.Route {
	r.Extra = append(r.Extra, rest.SSOLogin, rest.FactorEnrolled)
	return r
}

// requireFactor closes a route to callers with a second factor whose login has not passed it.
func requireFactor(r rest.Route) rest.Route {
	r.Extra = append(r.Extra, rest.FactorPassed)
	return r
}

// allowAPIKeys opens a route to API keys that have the scope, or one of several scopes separated by
// "|". All other routes are closed to API keys.
func allowAPIKeys(scope string, r rest.Route) rest.Route {
	r.KeyScope = scope
	return r
}

// idempotent makes a route support the header Idempotency-Key. Its responses must not contain
// secrets.
func idempotent(r rest.Route) rest.Route {
	r.Idempotent = true
	return r
}

// fixedPath keeps parameters of other routes from matching the path.
func fixedPath(r rest.Route) rest.Route {
	r.Fixed = true
	return r
}

// route returns a row of the table.
func route(method, path string, scope rest.Scope, permission, rate, summary string, h rest.Handler) rest.Route {
	return rest.Route{
		Method: method, Path: path, Scope: scope, Permission: permission, Rate: rate, Summary: summary, Handler: h,
	}
}
