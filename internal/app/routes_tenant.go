package app

import (
	"net/http"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/onboarding"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
)

// onboardingRoutes returns the routes of the onboarding.
func (svc *service) onboardingRoutes(accounts *account.HTTP) []rest.Route {
	var (
		onboarding = onboarding.NewHTTP(svc.onboarding, accounts)
		created    = rest.Status(http.StatusCreated)
	)
	return []rest.Route{
		route(post, "/api/v1/onboarding/start", rest.Public, "", "onboarding_start", "Register and create a checkout", rest.Handle(onboarding.Start, created, rest.Checks(onboarding.CheckStart))),
		route(post, "/api/v1/onboarding/preview", rest.Public, "", "login_address", "Preview the cost of a plan", rest.Handle(onboarding.Preview, rest.Checks(onboarding.CheckPreview))),
		route(get, "/api/v1/onboarding/status", rest.Member, "", "onboarding", "Retrieve the onboarding status", rest.Handle(onboarding.Status)),
		requireVerifiedEmail(route(post, "/api/v1/onboarding/retry-checkout", rest.Member, authz.BillingManage, "onboarding", "Create another checkout", rest.Handle(onboarding.RetryCheckout, rest.Checks(onboarding.CheckRetry)))),
		route(patch, "/api/v1/onboarding/complete-setup", rest.Member, authz.TenantUpdate, "onboarding", "Complete the onboarding", rest.Handle(onboarding.CompleteSetup, rest.Checks(onboarding.CheckSetup))),
	}
}

// tenantRoutes returns the routes of tenants.
func (svc *service) tenantRoutes(members *team.HTTP) []rest.Route {
	var (
		tenants      = tenant.NewHTTP(svc.tenants)
		adminTenants = tenant.NewAdminHTTP(svc.tenants, svc.publicURL, currency.Decimals(svc.db), svc.rates)
		provisioned  = onboarding.NewAdminHTTP(svc.onboarding, adminTenants)
		created      = rest.Status(http.StatusCreated)
	)
	return []rest.Route{
		route(post, "/api/v1/tenants", rest.User, "", "default", "Create a tenant", rest.Handle(tenants.Create, created)),
		route(get, "/api/v1/tenant", rest.Tenant, "", "default", "Retrieve the caller's tenant", rest.Handle(tenants.Show)),
		refuseFieldsInImpersonation([]string{"require_mfa", "require_mfa_from"}, route(patch, "/api/v1/tenant", rest.Tenant, authz.TenantUpdate, "default", "Update the caller's tenant", rest.Handle(tenants.Update, rest.Checks(tenants.CheckUpdate)))),
		refuseImpersonation(route(del, tenantPath, rest.Member, "", "account_password", "Delete the tenant", rest.Handle(tenants.Delete, rest.Exists(tenants.OwnerOnly)))),
		refuseImpersonation(route(post, tenantPath+"/leave", rest.Member, "", "default", "Leave the tenant", rest.Handle(members.Leave))),
		refuseImpersonation(route(post, tenantPath+"/transfer-ownership", rest.Member, "", "account_password", "Transfer ownership", rest.Handle(members.Transfer, rest.Exists(tenants.OwnerOnly), rest.Checks(members.CheckTransfer)))),

		allowAPIKeys(authz.TenantsRead, route(get, "/api/v1/admin/tenants", rest.Admin, authz.TenantsView, "default", "List tenants", rest.Handle(adminTenants.List, rest.Lists(tenant.AdminTenantList(i18n.Default, nil, time.Time{}))))),
		idempotent(allowAPIKeys(authz.TenantsWrite, route(post, "/api/v1/admin/tenants", rest.Admin, authz.TenantsManage, "default", "Create a tenant", rest.Handle(provisioned.Provision, created, rest.Checks(provisioned.CheckProvision))))),
		route(get, "/api/v1/admin/tenants/search-with-roles", rest.Admin, "users.create", "default", "Search tenants with their roles", rest.Handle(adminTenants.SearchWithRoles)),
		allowAPIKeys(authz.TenantsRead, route(get, "/api/v1/admin/tenants/{tenant}", rest.Admin, authz.TenantsView, "default", "Retrieve a tenant", rest.Handle(adminTenants.Show))),
		route(del, "/api/v1/admin/tenants/{tenant}", rest.Admin, authz.TenantsManage, "default", "Delete an empty tenant", rest.Handle(adminTenants.Dissolve)),
		route(post, adminTenantPath+"/restore", rest.Admin, authz.TenantsManage, "default", "Restore a deleted tenant", rest.Handle(adminTenants.Restore)),
		allowAPIKeys(authz.TenantsWrite, route(patch, "/api/v1/admin/tenants/{tenant}", rest.Admin, authz.TenantsManage, "default", "Update a tenant", rest.Handle(adminTenants.Update, rest.Exists(adminTenants.Exists), rest.Checks(adminTenants.CheckUpdate)))),
	}
}
