package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/tenant/domain"
	"github.com/tenantry/tenantry/internal/tenant/sso"
)

// signOnRoutes returns the routes of verified domains and of single sign-on.
func (svc *service) signOnRoutes(accounts *account.HTTP) []rest.Route {
	var (
		domains    = domain.NewHTTP(svc.tenantDomains, svc.sso.RequireFeature)
		signOn     = sso.NewHTTP(svc.sso, oauth.NewHTTP(svc.oauth, accounts))
		redirected = rest.Status(http.StatusFound)
		created    = rest.Status(http.StatusCreated)
		mayChange  = rest.Exists(signOn.MayChange)
	)
	return []rest.Route{
		route(get, tenantPath+"/domains", rest.Tenant, authz.SSOManage, "default", "List domains", rest.Handle(domains.List)),
		refuseImpersonation(route(post, tenantPath+"/domains", rest.Tenant, authz.SSOManage, "default", "Add a domain", rest.Handle(domains.Create, created, rest.Exists(domains.MayCreate)))),
		refuseImpersonation(route(post, tenantPath+"/domains/{domain}/verify", rest.Tenant, authz.SSOManage, "default", "Verify a domain", rest.Handle(domains.Verify, rest.Exists(domains.MayChange)))),
		refuseImpersonation(route(patch, tenantPath+"/domains/{domain}", rest.Tenant, authz.SSOManage, "default", "Update a domain", rest.Handle(domains.Update, rest.Exists(domains.MayChange), rest.Checks(domains.CheckUpdate)))),
		refuseImpersonation(route(del, tenantPath+"/domains/{domain}", rest.Tenant, authz.SSOManage, "default", "Delete a domain", rest.Handle(domains.Delete))),
		route(get, tenantPath+"/sso", rest.Tenant, authz.SSOManage, "default", "Retrieve the single sign-on connection", rest.Handle(signOn.Show)),
		refuseImpersonation(route(put, tenantPath+"/sso", rest.Tenant, authz.SSOManage, "default", "Set the single sign-on connection", rest.Handle(signOn.Put, mayChange, rest.Checks(signOn.CheckPut)))),
		refuseImpersonation(route(del, tenantPath+"/sso", rest.Tenant, authz.SSOManage, "default", "Delete the single sign-on connection", rest.Handle(signOn.Delete))),
		refuseImpersonation(route(post, tenantPath+"/sso/test", rest.Tenant, authz.SSOManage, "default", "Test the single sign-on connection", rest.Handle(signOn.Test, mayChange))),
		route(post, "/api/v1/auth/sso", rest.Public, "", "oauth", "Find the single sign-on of an email", rest.Handle(signOn.Find)),
		route(get, "/api/v1/auth/sso/callback", rest.Public, "", "oauth", "Finish a single sign-on", rest.Handle(signOn.Callback, redirected)),
		route(get, "/api/v1/auth/sso/{id}/redirect", rest.Public, "", "oauth", "Start a single sign-on", rest.Handle(signOn.Redirect, redirected)),
	}
}
