package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/webhook"
)

// webhookRoutes returns the routes of the endpoints that are told what happens, those of
// tenants and those of the platform. They differ in whom they are for alone.
func (svc *service) webhookRoutes() []rest.Route {
	ofTenant := webhookTable(of+"/webhook-endpoints", rest.Tenant, "the tenant", webhook.NewHTTP(svc.hooks, svc.publicURL))
	for i, r := range ofTenant {
		ofTenant[i] = inPerson(r)
	}
	return append(ofTenant,
		webhookTable("/api/v1/admin/webhook-endpoints", rest.Admin, "the platform", webhook.NewPlatformHTTP(svc.hooks, svc.publicURL))...)
}

// webhookTable returns the routes below a path.
func webhookTable(base string, scope rest.Scope, owner string, hooks *webhook.HTTP) []rest.Route {
	var (
		created  = rest.Status(http.StatusCreated)
		accepted = rest.Status(http.StatusAccepted)
		known    = rest.Exists(hooks.Exists)
		one      = base + "/{endpoint}"
	)
	row := func(method, path, summary string, h rest.Handler) rest.Route {
		return route(method, path, scope, authz.WebhooksManage, "default", summary, h)
	}
	return []rest.Route{
		row(get, base, "List the webhook endpoints of "+owner, rest.Handle(hooks.List)),
		row(post, base, "Create a webhook endpoint of "+owner+"; its secret is shown once", rest.Handle(hooks.Create, created)),
		row(get, one, "Show a webhook endpoint of "+owner, rest.Handle(hooks.Show)),
		row(patch, one, "Change a webhook endpoint of "+owner, rest.Handle(hooks.Update, known)),
		row(del, one, "Delete a webhook endpoint of "+owner, rest.Handle(hooks.Delete)),
		row(post, one+"/rotate-secret", "Replace the secret of a webhook endpoint of "+owner, rest.Handle(hooks.Rotate)),
		row(post, one+"/test", "Send an event of type webhook.test to a webhook endpoint of "+owner, rest.Handle(hooks.Test, accepted)),
		row(get, one+"/deliveries", "List the deliveries to a webhook endpoint of "+owner, rest.Handle(hooks.Deliveries, known, rest.Lists(webhook.DeliveryList()))),
		row(post, one+"/deliveries/{delivery}/resend", "Send a delivery again to a webhook endpoint of "+owner, rest.Handle(hooks.Resend, accepted)),
		row(post, one+"/replay", "Send again what was not delivered to a webhook endpoint of "+owner, rest.Handle(hooks.Replay, accepted, known)),
	}
}
