package app

import (
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/stats"
	"github.com/tenantry/tenantry/internal/timeline"
)

// platformRoutes returns the routes that belong to no customer domain.
func (svc *service) platformRoutes() []rest.Route {
	var (
		settings       = svc.publicSettings()
		impersonations = impersonation.NewHTTP(svc.impersonation, svc.publicURL)
		events         = timeline.NewHTTP(svc.db, svc.messages)
		trail          = audit.NewHTTP(svc.audit, svc.publicURL)
		figures        = stats.NewHTTP(stats.NewService(stats.Deps{
			DB: svc.db, Clock: svc.clock, Machine: clock.System(), Journal: svc.journal, Inbox: svc.receiver, Calls: svc.calls, Outbox: svc.outbox,
		}))
	)
	return []rest.Route{
		route(get, "/api/v1/settings", rest.Public, "", "catalog", "Show the settings that a frontend needs", rest.Handle(settings.Show)),
		route(post, "/api/v1/webhooks/stripe", rest.Public, "", "", "Receive a signed notification from the payment provider", rest.HandleRaw[inbox.Receipt](svc.receiver, "application/json")),

		route(post, "/api/v1/admin/impersonation/start", rest.Admin, authz.ImpersonationStart, "default", "Act as a member of a tenant", rest.Handle(impersonations.Start, rest.Checks(impersonations.CheckStart))),
		route(post, "/api/v1/admin/impersonation/stop", rest.Impersonating, "", "default", "Stop impersonating", rest.Handle(impersonations.Stop)),
		route(get, "/api/v1/admin/impersonation/status", rest.Impersonating, "", "default", "Show the impersonation that is active", rest.Handle(impersonations.Status)),
		route(get, "/api/v1/admin/impersonation/logs", rest.Admin, authz.LogsView, "default", "List impersonations", rest.Handle(impersonations.Logs, rest.Lists(impersonation.LogList()))),
		route(get, "/api/v1/admin/audit-logs", rest.Admin, authz.LogsView, "default", "List the audit trail", rest.Handle(trail.List, rest.Lists(audit.TrailList()))),
		route(get, "/api/v1/admin/stats", rest.Admin, authz.TenantsView, "default", "Show the figures of the platform", rest.Handle(figures.Show)),
		route(get, "/api/v1/admin/stats/series", rest.Admin, authz.TenantsView, "default", "Show a figure of the platform over time", rest.Handle(figures.Series)),
		route(get, "/api/v1/admin/activity", rest.Admin, authz.LogsView, "default", "List what has happened anywhere", rest.Handle(events.Activity)),
		route(get, "/api/v1/admin/tenants/{tenant}/timeline", rest.Admin, authz.LogsView, "default", "List what has happened in a tenant", rest.Handle(events.AdminOfTenant)),
		route(get, tenantPath+"/timeline", rest.Tenant, authz.AuditView, "default", "List what has happened in the tenant", rest.Handle(events.ListOfTenant)),
		route(get, tenantPath+"/audit-logs", rest.Tenant, authz.AuditView, "default", "List the tenant's part of the audit trail", rest.Handle(trail.ListOfTenant, rest.Lists(audit.OwnList()))),
	}
}
