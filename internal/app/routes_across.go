package app

import (
	"github.com/tenantry/tenantry/internal/account/directory"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/creditnote"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/webhook"
)

// acrossRoutes returns the routes of searches and of lists across tenants, except the list of
// tenants itself.
func (svc *service) acrossRoutes() []rest.Route {
	var (
		decimals      = sheet.Decimals(currency.Decimals(svc.db))
		invoices      = invoice.NewHTTP(svc.invoices, svc.publicURL, decimals, svc.rates)
		notes         = creditnote.NewHTTP(svc.creditNotes, svc.publicURL, decimals)
		subscriptions = subscription.NewHTTP(svc.subscriptions, svc.publicURL, decimals)
		users         = directory.NewHTTP(svc.db, svc.publicURL)
		hooks         = webhook.NewPlatformHTTP(svc.hooks, svc.publicURL)
	)
	find := search.NewHTTP(search.NewService(svc.db, svc.clock))
	return []rest.Route{
		route(get, "/api/v1/admin/search", rest.Admin, authz.TenantsView, "default", "Search across tenants", rest.Handle(find.SearchPlatform)),
		route(get, tenantPath+"/search", rest.Tenant, "", "default", "Search in the tenant", rest.Handle(find.OfTenant)),
		route(get, "/api/v1/admin/invoices", rest.Admin, authz.TenantsView, "default", "List invoices of all tenants", rest.Handle(invoices.ListAcross, rest.Lists(invoices.AcrossList(nil)))),
		route(get, "/api/v1/admin/credit-notes", rest.Admin, authz.TenantsView, "default", "List credit notes of all tenants", rest.Handle(notes.ListAcross, rest.Lists(notes.AcrossList()))),
		route(get, "/api/v1/admin/subscriptions", rest.Admin, authz.TenantsView, "default", "List subscriptions of all tenants", rest.Handle(subscriptions.ListAcross, rest.Lists(subscriptions.AcrossList()))),
		route(get, "/api/v1/admin/users", rest.Admin, authz.TenantsView, "default", "List users", rest.Handle(users.List, rest.Lists(directory.UserList(i18n.Default)))),
		route(get, "/api/v1/admin/webhook-deliveries", rest.Admin, authz.WebhooksManage+"&"+authz.TenantsView, "default", "List webhook deliveries of all tenants", rest.Handle(hooks.ListAcross, rest.Lists(hooks.AcrossList()))),
	}
}
