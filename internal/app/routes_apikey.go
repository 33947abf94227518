package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/apikey"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
)

// apiKeyRoutes returns the routes of API keys. API keys cannot call them.
func (svc *service) apiKeyRoutes(members *team.HTTP) []rest.Route {
	var (
		keys     = apikey.NewHTTP(svc.apiKeys, svc.publicURL)
		platform = apikey.NewPlatformHTTP(svc.apiKeys, svc.publicURL)
		known    = rest.Exists(keys.Exists)
		knownOf  = rest.Exists(platform.Exists)
		created  = rest.Status(http.StatusCreated)
		list     = rest.Lists(apikey.KeyList())
	)
	return []rest.Route{
		requireVerifiedEmail(refuseImpersonation(route(get, tenantPath+"/api-keys", rest.Tenant, authz.APIKeysManage, "default", "List the tenant's API keys", rest.Handle(keys.List, list)))),
		requireVerifiedEmail(refuseImpersonation(route(post, tenantPath+"/api-keys", rest.Tenant, authz.APIKeysManage, "api_keys", "Create an API key", rest.Handle(keys.Create, created, rest.Checks(keys.CheckCreate))))),
		requireVerifiedEmail(refuseImpersonation(route(patch, tenantPath+"/api-keys/{key}", rest.Tenant, authz.APIKeysManage, "default", "Rename an API key", rest.Handle(keys.Rename, known)))),
		requireVerifiedEmail(refuseImpersonation(route(post, tenantPath+"/api-keys/{key}/rotate", rest.Tenant, authz.APIKeysManage, "api_keys", "Rotate an API key", rest.Handle(keys.Rotate, created, known)))),
		requireVerifiedEmail(refuseImpersonation(route(del, tenantPath+"/api-keys/{key}", rest.Tenant, authz.APIKeysManage, "default", "Revoke an API key", rest.Handle(keys.Revoke)))),

		route(get, adminTenantPath+"/api-keys", rest.Admin, authz.TenantsView+"&"+authz.APIKeysManage, "default", "List the API keys of a tenant", rest.Handle(platform.AdminList, rest.Exists(members.AdminTenantExists), list)),
		route(get, "/api/v1/admin/api-keys", rest.Admin, authz.APIKeysManage, "default", "List the platform's API keys", rest.Handle(platform.List, list)),
		route(post, "/api/v1/admin/api-keys", rest.Admin, authz.APIKeysManage, "api_keys", "Create a platform API key", rest.Handle(platform.Create, created, rest.Checks(platform.CheckCreate))),
		route(patch, "/api/v1/admin/api-keys/{key}", rest.Admin, authz.APIKeysManage, "default", "Rename a platform API key", rest.Handle(platform.Rename, knownOf)),
		route(post, "/api/v1/admin/api-keys/{key}/rotate", rest.Admin, authz.APIKeysManage, "api_keys", "Rotate a platform API key", rest.Handle(platform.Rotate, created, knownOf)),
		route(del, "/api/v1/admin/api-keys/{key}", rest.Admin, authz.APIKeysManage, "default", "Revoke a platform API key", rest.Handle(platform.Revoke)),
	}
}
