package app

import (
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/requestlog"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/stats"
	"github.com/tenantry/tenantry/internal/stats/analytics"
	"github.com/tenantry/tenantry/internal/stats/rates"
	"github.com/tenantry/tenantry/internal/timeline"
)

// platformRoutes returns the routes that belong to no customer domain.
func (svc *service) platformRoutes() []rest.Route {
	var (
		settings       = svc.publicSettings()
		brand          = brandPreview{svc.settings, svc.letters, svc.clock, svc.log}
		impersonations = impersonation.NewHTTP(svc.impersonation, svc.publicURL)
		events         = timeline.NewHTTP(svc.db, svc.messages)
		requests       = requestlog.NewHTTP(svc.requestLog)
		trail          = audit.NewHTTP(svc.audit, svc.publicURL)
		figures        = stats.NewHTTP(stats.NewService(stats.Deps{
			DB: svc.db, Clock: svc.clock, Machine: clock.System(), Journal: svc.journal, Inbox: svc.receiver, Calls: svc.calls, Outbox: svc.outbox, ToBase: svc.rates.ToBase,
		}))
		rateBook = rates.NewHTTP(svc.rates)
		revenue  = analytics.NewHTTP(analytics.NewService(analytics.Deps{DB: svc.db, Clock: svc.clock, Journal: svc.journal, Rates: svc.rates}), svc.publicURL)
	)
	return []rest.Route{
		route(get, "/api/v1/settings", rest.Public, "", "catalog", "Retrieve public settings", rest.Handle(settings.Show)),
		route(get, "/api/v1/admin/settings", rest.Admin, authz.LogsView, "default", "List the settings of the service", rest.Handle(sourcesHTTP{svc.settings.Sources}.List)),
		route(get, "/api/v1/admin/brand/mail", rest.Admin, authz.LogsView, "default", "Preview the brand in an email", rest.Handle(brand.Mail)),
		route(get, "/api/v1/admin/brand/invoice", rest.Admin, authz.LogsView, "default", "Preview the brand on an invoice", rest.File(brand.Invoice, "application/pdf")),
		allowAnonymous(route(get, "/api/v1/batch", rest.Public, "", "default", "Read several resources", rest.Batch())),
		route(post, "/api/v1/webhooks/stripe", rest.Public, "", "", "Receive a payment provider notification", rest.HandleRaw[inbox.Receipt](svc.receiver)),

		requireFactor(route(post, "/api/v1/admin/impersonation/start", rest.Admin, authz.ImpersonationStart, "default", "Start impersonation", rest.Handle(impersonations.Start, rest.Checks(impersonations.CheckStart)))),
		route(post, "/api/v1/admin/impersonation/stop", rest.Impersonating, "", "default", "Stop impersonation", rest.Handle(impersonations.Stop)),
		route(get, "/api/v1/admin/impersonation/status", rest.Impersonating, "", "default", "Retrieve the active impersonation", rest.Handle(impersonations.Status)),
		route(get, "/api/v1/admin/impersonation/logs", rest.Admin, authz.LogsView, "default", "List impersonations", rest.Handle(impersonations.Logs, rest.Lists(impersonation.LogList()))),
		route(get, "/api/v1/admin/audit-logs", rest.Admin, authz.LogsView, "default", "List audit trail entries", rest.Handle(trail.List, rest.Lists(audit.TrailList()))),
		route(get, "/api/v1/admin/stats", rest.Admin, authz.TenantsView, "default", "Retrieve platform statistics", rest.Handle(figures.Show)),
		route(get, "/api/v1/admin/stats/series", rest.Admin, authz.TenantsView, "default", "Retrieve a platform statistic over time", rest.Handle(figures.Series)),
		route(get, "/api/v1/admin/analytics", rest.Admin, authz.TenantsView, "default", "Retrieve revenue analytics", rest.Handle(revenue.Show)),
		route(get, "/api/v1/admin/analytics/movements", rest.Admin, authz.TenantsView, "default", "List revenue movements", rest.Handle(revenue.Movements, rest.Lists(analytics.MovementList()))),
		route(get, "/api/v1/admin/analytics/cohorts", rest.Admin, authz.TenantsView, "default", "List customer cohorts", rest.Handle(revenue.Cohorts)),
		route(get, "/api/v1/admin/rates", rest.Admin, authz.TenantsView, "default", "List exchange rates", rest.Handle(rateBook.List)),
		route(put, "/api/v1/admin/rates/{date}", rest.Admin, authz.RatesManage, "default", "Replace the exchange rates of a day", rest.Handle(rateBook.Put)),
		route(del, "/api/v1/admin/rates/{date}", rest.Admin, authz.RatesManage, "default", "Delete the exchange rates of a day", rest.Handle(rateBook.Delete)),
		route(get, "/api/v1/admin/activity", rest.Admin, authz.LogsView, "default", "List activity on the platform", rest.Handle(events.Activity)),
		route(get, "/api/v1/admin/tenants/{tenant}/timeline", rest.Admin, authz.LogsView, "default", "List a tenant's activity", rest.Handle(events.AdminOfTenant)),
		route(get, tenantPath+"/timeline", rest.Tenant, authz.AuditView, "default", "List activity in the tenant", rest.Handle(events.ListOfTenant)),
		route(get, "/api/v1/admin/request-logs", rest.Admin, authz.LogsView, "default", "List API requests", rest.Handle(requests.List, rest.Lists(requestlog.AdminList()))),
		refuseImpersonation(route(get, tenantPath+"/request-logs", rest.Tenant, authz.APIKeysManage, "default", "List the tenant's API requests", rest.Handle(requests.ListOfTenant, rest.Lists(requestlog.List())))),
		route(get, tenantPath+"/audit-logs", rest.Tenant, authz.AuditView, "default", "List the tenant's audit trail entries", rest.Handle(trail.ListOfTenant, rest.Lists(audit.OwnList()))),
	}
}
