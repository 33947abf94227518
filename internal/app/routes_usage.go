package app

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/usage/history"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// usageRoutes returns the routes of metered usage.
func (svc *service) usageRoutes() []rest.Route {
	var (
		ofTenants   = usage.NewHTTP(svc.usage)
		past        = history.NewHTTP(svc.history)
		costs       = billing.NewHTTP(svc.estimator)
		adminMeters = meters.NewHTTP(svc.meters, svc.publicURL)
		created     = rest.Status(http.StatusCreated)
	)
	return []rest.Route{
		allowAPIKeys(authz.UsageWrite, route(post, tenantPath+"/usage", rest.Tenant, "", "usage", "Record usage", rest.Handle(ofTenants.Record, created, rest.Checks(ofTenants.CheckRecord)))),
		allowAPIKeys(authz.UsageWrite, route(post, tenantPath+"/usage/batch", rest.Tenant, "", "usage", "Record several usage events", rest.Handle(ofTenants.Batch))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage", rest.Tenant, "", "default", "Summarize the usage of the current period", rest.Handle(ofTenants.Summary))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/quotas", rest.Tenant, "", "default", "Show usage against quotas", rest.Handle(ofTenants.Quotas))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/cost-estimate", rest.Tenant, "", "default", "Estimate what the usage of the current billing period costs", rest.Handle(costs.CostEstimate))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/series", rest.Tenant, "", "default", "Show a meter over time", rest.Handle(past.Series))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/export", rest.Tenant, "", "default", "Download the events of a meter", rest.File(past.Export, "text/csv", "application/x-ndjson"))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/{meterCode}", rest.Tenant, "", "default", "Show one meter with its newest events", rest.Handle(ofTenants.Meter))),

		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/meters", rest.Admin, authz.MetersManage, "default", "List meters", rest.Handle(adminMeters.List, rest.Lists(meters.List())))),
		route(post, "/api/v1/admin/meters", rest.Admin, authz.MetersManage, "default", "Create a meter", rest.Handle(adminMeters.Create, created, rest.Checks(adminMeters.CheckCreate))),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/meters/{meter}", rest.Admin, authz.MetersManage, "default", "Show a meter", rest.Handle(adminMeters.Show))),
		route(patch, "/api/v1/admin/meters/{meter}", rest.Admin, authz.MetersManage, "default", "Change a meter", rest.Handle(adminMeters.Update, rest.Exists(adminMeters.Exists), rest.Checks(adminMeters.CheckUpdate))),
		route(del, "/api/v1/admin/meters/{meter}", rest.Admin, authz.MetersManage, "default", "Delete a meter; its events stay", rest.Handle(adminMeters.Delete)),
	}
}

// invoiceRoutes returns the routes of invoices.
func (svc *service) invoiceRoutes() []rest.Route {
	invoices := invoice.NewHTTP(svc.invoices, svc.publicURL)
	paid := payments.NewHTTP(svc.payments, svc.messages)
	return []rest.Route{
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices", rest.Tenant, "", "default", "List the invoices", rest.Handle(invoices.List, rest.Lists(invoice.InvoiceList())))),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices/summary", rest.Tenant, "", "default", "Add up the invoices of a year", rest.Handle(paid.Summary))),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices/{invoiceId}", rest.Tenant, "", "default", "Show an invoice", rest.Handle(invoices.Show))),
		route(post, tenantPath+"/invoices/{invoiceId}/pay", rest.Tenant, authz.BillingManage, "default", "Pay an open invoice now", rest.Handle(invoices.Pay)),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices/{invoiceId}/pdf", rest.Tenant, "", "default", "Download an invoice's document", rest.File(invoices.PDF, "application/pdf"))),

		route(get, tenantPath+"/billing/payment-method", rest.Tenant, authz.BillingManage, "default", "Show what the next invoice is paid with", rest.Handle(paid.Method)),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/credit", rest.Tenant, authz.BillingManage, "default", "Show the credit that the next invoices use", rest.Handle(paid.Credit))),
		route(get, tenantPath+"/billing/failed-payment", rest.Tenant, authz.BillingManage, "default", "Show the last failed payment", rest.Handle(paid.Failed)),
		route(get, adminTenantPath+"/billing", rest.Admin, authz.TenantsView, "default", "Show how a tenant pays", rest.Handle(paid.AdminBilling)),
		route(post, adminTenantPath+"/invoices/{invoice}/void", rest.Admin, authz.TenantsManage, "default", "Void an invoice that is not final", rest.Handle(invoices.AdminVoid)),
	}
}
