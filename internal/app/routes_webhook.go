package app

import (
	"net/http"
	"slices"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/webhook"
)

// webhookRoutes returns the routes of webhook endpoints of tenants and of the platform. They differ
// only in the owner.
func (svc *service) webhookRoutes(members *team.HTTP) []rest.Route {
	ofTenant := webhookTable(tenantPath+"/webhook-endpoints", rest.Tenant, authz.WebhooksManage, "the tenant", webhook.NewHTTP(svc.hooks, svc.publicURL))
	for i, r := range ofTenant {
		ofTenant[i] = refuseImpersonation(r)
	}
	const permission = authz.WebhooksManage + "&" + authz.TenantsView
	platform := webhook.NewPlatformHTTP(svc.hooks, svc.publicURL)
	return slices.Concat(ofTenant, webhookTable("/api/v1/admin/webhook-endpoints", rest.Admin, permission, "the platform", platform), []rest.Route{
		route(get, "/api/v1/admin/webhook-deliveries/{delivery}", rest.Admin, permission, "default", "Retrieve a webhook delivery to any endpoint", rest.Handle(platform.DeliveryOfAny)),
		route(post, "/api/v1/admin/webhook-deliveries/{delivery}/resend", rest.Admin, permission, "default", "Resend a webhook delivery to any endpoint", rest.Handle(platform.ResendAny, rest.Status(http.StatusAccepted))),
		route(get, adminTenantPath+"/webhook-endpoints", rest.Admin, permission, "default", "List the webhook endpoints of a tenant", rest.Handle(platform.AdminList, rest.Exists(members.AdminTenantExists))),
	})
}

// webhookTable returns the routes below base. An endpoint of the platform receives the data of all
// tenants, so the platform's routes also require the permission to read tenants.
func webhookTable(base string, scope rest.Scope, permission, owner string, hooks *webhook.HTTP) []rest.Route {
	var (
		created  = rest.Status(http.StatusCreated)
		accepted = rest.Status(http.StatusAccepted)
		known    = rest.Exists(hooks.Exists)
		one      = base + "/{endpoint}"
	)
	row := func(method, path, summary string, h rest.Handler) rest.Route {
		return route(method, path, scope, permission, "default", summary, h)
	}
	create := row(post, base, "Create a webhook endpoint of "+owner, rest.Handle(hooks.Create, created, rest.Checks(hooks.CheckCreate)))
	create.MakesEndpoints = scope == rest.Tenant // documents the events once; they are the same
	return []rest.Route{
		row(get, base, "List the webhook endpoints of "+owner, rest.Handle(hooks.List)),
		create,
		row(get, one, "Retrieve a webhook endpoint of "+owner, rest.Handle(hooks.Show)),
		row(patch, one, "Update a webhook endpoint of "+owner, rest.Handle(hooks.Update, known, rest.Checks(hooks.CheckUpdate))),
		row(del, one, "Delete a webhook endpoint of "+owner, rest.Handle(hooks.Delete)),
		row(post, one+"/rotate-secret", "Rotate the secret of a webhook endpoint of "+owner, rest.Handle(hooks.Rotate)),
		row(post, one+"/test", "Test a webhook endpoint of "+owner, rest.Handle(hooks.Test, accepted)),
		row(get, one+"/deliveries", "List the deliveries to a webhook endpoint of "+owner, rest.Handle(hooks.Deliveries, known, rest.Lists(webhook.DeliveryList()))),
		row(get, one+"/deliveries/{delivery}", "Retrieve a delivery to a webhook endpoint of "+owner, rest.Handle(hooks.Delivery)),
		row(post, one+"/deliveries/{delivery}/resend", "Resend a delivery to a webhook endpoint of "+owner, rest.Handle(hooks.Resend, accepted)),
		row(post, one+"/replay", "Replay failed deliveries to a webhook endpoint of "+owner, rest.Handle(hooks.Replay, accepted, known)),
	}
}
