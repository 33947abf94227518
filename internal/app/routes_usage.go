package app

import (
	"context"
	"net/http"

	"github.com/tenantry/tenantry/internal/authz"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/creditnote"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/usage/history"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// usageRoutes returns the routes of metered usage.
func (svc *service) usageRoutes(members *team.HTTP) []rest.Route {
	var (
		ofTenants   = usage.NewHTTP(svc.usage)
		past        = history.NewHTTP(svc.history)
		costs       = billing.NewHTTP(svc.estimator)
		adminMeters = meters.NewHTTP(svc.meters, svc.publicURL)
		created     = rest.Status(http.StatusCreated)
		inTenant    = rest.Exists(members.AdminTenantExists)
		exists      = rest.Exists(tenant.NewAdminHTTP(svc.tenants, svc.publicURL, nil, nil).Exists)
	)
	return []rest.Route{
		allowAPIKeys(authz.UsageWrite, route(post, tenantPath+"/usage", rest.Tenant, "", "usage", "Record a usage event", rest.Handle(ofTenants.Record, created, rest.Checks(ofTenants.CheckRecord)))),
		allowAPIKeys(authz.UsageWrite, route(post, tenantPath+"/usage/batch", rest.Tenant, "", "usage", "Record several usage events", rest.Handle(ofTenants.Batch))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage", rest.Tenant, "", "default", "Summarize current usage", rest.Handle(ofTenants.Summary))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/quotas", rest.Tenant, "", "default", "List quotas", rest.Handle(ofTenants.Quotas))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/cost-estimate", rest.Tenant, "", "default", "Estimate usage costs", rest.Handle(costs.CostEstimate))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/series", rest.Tenant, "", "default", "Retrieve usage over time", rest.Handle(past.Series))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/export", rest.Tenant, "", "default", "Export usage events", rest.File(past.Export, "text/csv", "application/x-ndjson"))),
		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/usage/{meterCode}", rest.Tenant, "", "default", "Retrieve usage of a meter", rest.Handle(ofTenants.Meter))),
		allowAPIKeys(authz.LimitsWrite, route(put, tenantPath+"/usage/{meterCode}/cap", rest.Tenant, authz.BillingManage, "default", "Cap the usage of a meter", rest.Handle(ofTenants.PutCap, rest.Exists(ofTenants.MeterIsActive)))),

		fixedPath(allowAPIKeys(authz.UsageWrite, route(post, tenantPath+"/usage/reservations", rest.Tenant, "", "usage", "Reserve usage", rest.Handle(ofTenants.Reserve, created)))),
		allowAPIKeys(authz.UsageWrite, route(post, tenantPath+"/usage/reservations/{reservation}/settle", rest.Tenant, "", "usage", "Settle a reservation", rest.Handle(ofTenants.Settle, created, rest.Exists(ofTenants.ReservationExists), rest.Checks(ofTenants.CheckSettle)))),
		allowAPIKeys(authz.UsageWrite, route(del, tenantPath+"/usage/reservations/{reservation}", rest.Tenant, "", "usage", "Release a reservation", rest.Handle(ofTenants.Release))),

		allowAPIKeys(authz.UsageRead, route(get, tenantPath+"/grants", rest.Tenant, "", "default", "List grants", rest.Handle(readingPurchases(svc, ofTenants.Grants)))),
		allowAPIKeys(authz.LimitsWrite, route(get, adminTenantPath+"/grants", rest.Admin, authz.LimitsManage, "default", "List grants of a tenant", rest.Handle(ofTenants.AdminGrants, exists))),
		idempotent(allowAPIKeys(authz.LimitsWrite, route(post, adminTenantPath+"/grants", rest.Admin, authz.LimitsManage, "default", "Grant units to a tenant", rest.Handle(ofTenants.CreateGrant, created, exists, rest.Checks(ofTenants.CheckGrant))))),
		allowAPIKeys(authz.LimitsWrite, route(del, adminTenantPath+"/grants/{grant}", rest.Admin, authz.LimitsManage, "default", "Delete a grant", rest.Handle(ofTenants.DeleteGrant, exists))),
		route(get, adminTenantPath+"/usage/quotas", rest.Admin, authz.TenantsView, "default", "List a tenant's quotas", rest.Handle(ofTenants.AdminQuotas, inTenant)),
		allowAPIKeys(authz.LimitsWrite, route(put, adminTenantPath+"/usage/{meterCode}/cap", rest.Admin, authz.LimitsManage, "default", "Cap the usage of a tenant's meter", rest.Handle(ofTenants.AdminPutCap, existsBoth(members.AdminTenantExists, ofTenants.MeterIsActive)))),
		route(get, adminTenantPath+"/usage/series", rest.Admin, authz.TenantsView, "default", "Retrieve a tenant's usage over time", rest.Handle(past.AdminSeries, inTenant)),

		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/meters", rest.Admin, authz.MetersManage, "default", "List meters", rest.Handle(adminMeters.List, rest.Lists(meters.List())))),
		route(post, "/api/v1/admin/meters", rest.Admin, authz.MetersManage, "default", "Create a meter", rest.Handle(adminMeters.Create, created, rest.Checks(adminMeters.CheckCreate))),
		allowAPIKeys(authz.CatalogRead, route(get, "/api/v1/admin/meters/{meter}", rest.Admin, authz.MetersManage, "default", "Retrieve a meter", rest.Handle(adminMeters.Show))),
		route(patch, "/api/v1/admin/meters/{meter}", rest.Admin, authz.MetersManage, "default", "Update a meter", rest.Handle(adminMeters.Update, rest.Exists(adminMeters.Exists), rest.Checks(adminMeters.CheckUpdate))),
		route(del, "/api/v1/admin/meters/{meter}", rest.Admin, authz.MetersManage, "default", "Delete a meter", rest.Handle(adminMeters.Delete)),
	}
}

// existsBoth is rest.Exists for two checks.
func existsBoth(first, second func(context.Context, func(string) string) error) rest.Option {
	return rest.Exists(func(ctx context.Context, param func(string) string) error {
		if err := first(ctx, param); err != nil {
			return err
		}
		return second(ctx, param)
	})
}

// readingPurchases makes a handler first read the tenant's open checkouts of packs from the
// provider, so that a tenant that has just paid sees its units.
func readingPurchases[I, O any](svc *service, handle func(context.Context, *I) (O, error)) func(context.Context, *I) (O, error) {
	return func(ctx context.Context, in *I) (O, error) {
		svc.purchases.ReadOpen(ctx, authz.TenantID(ctx))
		return handle(ctx, in)
	}
}

// invoiceRoutes returns the routes of invoices.
func (svc *service) invoiceRoutes() []rest.Route {
	invoices := invoice.NewHTTP(svc.invoices, svc.publicURL, nil, nil)
	paid := payments.NewHTTP(svc.payments, svc.messages)
	notes := creditnote.NewHTTP(svc.creditNotes, svc.publicURL, nil)
	creditNotes := adminTenantPath + "/invoices/{invoice}/credit-notes"
	return []rest.Route{
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices", rest.Tenant, "", "default", "List invoices", rest.Handle(invoices.List, rest.Lists(invoice.InvoiceList())))),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices/summary", rest.Tenant, "", "default", "Summarize invoices", rest.Handle(paid.Summary))),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices/{invoiceId}", rest.Tenant, "", "default", "Retrieve an invoice", rest.Handle(invoices.Show))),
		route(post, tenantPath+"/invoices/{invoiceId}/pay", rest.Tenant, authz.BillingManage, "default", "Pay an invoice", rest.Handle(invoices.Pay)),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/invoices/{invoiceId}/pdf", rest.Tenant, "", "default", "Download an invoice", rest.File(invoices.PDF, "application/pdf"))),

		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/credit-notes", rest.Tenant, "", "default", "List credit notes", rest.Handle(notes.List, rest.Lists(creditnote.NoteList())))),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/credit-notes/{creditNoteId}", rest.Tenant, "", "default", "Retrieve a credit note", rest.Handle(notes.Show))),
		allowAPIKeys(authz.InvoicesRead, route(get, tenantPath+"/credit-notes/{creditNoteId}/pdf", rest.Tenant, "", "default", "Download a credit note", rest.File(notes.PDF, "application/pdf"))),

		route(get, tenantPath+"/billing/payment-method", rest.Tenant, authz.BillingManage, "default", "Retrieve the payment method", rest.Handle(paid.Method)),
		route(get, tenantPath+"/billing/failed-payment", rest.Tenant, authz.BillingManage, "default", "Retrieve the last failed payment", rest.Handle(paid.FailedPayment)),
		route(get, adminTenantPath+"/billing", rest.Admin, authz.TenantsView, "default", "Retrieve a tenant's billing status", rest.Handle(paid.AdminBilling)),
		route(get, adminTenantPath+"/invoices/{invoice}", rest.Admin, authz.TenantsView, "default", "Retrieve a tenant's invoice", rest.Handle(invoices.AdminShow)),
		route(get, adminTenantPath+"/invoices/{invoice}/pdf", rest.Admin, authz.TenantsView, "default", "Download a tenant's invoice", rest.File(invoices.AdminPDF, "application/pdf")),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, adminTenantPath+"/invoices/{invoice}/pay", rest.Admin, authz.SubscriptionsManage, "default", "Pay a tenant's invoice", rest.Handle(invoices.AdminPay, rest.Exists(invoices.InvoiceExists)))),
		allowAPIKeys(authz.SubscriptionsWrite, route(post, adminTenantPath+"/invoices/{invoice}/mark-paid", rest.Admin, authz.SubscriptionsManage, "default", "Mark an invoice as paid", rest.Handle(invoices.AdminMarkPaid, rest.Exists(invoices.InvoiceExists), rest.Checks(invoices.CheckMarkPaid)))),
		allowAPIKeys(authz.CreditWrite, route(post, creditNotes+"/preview", rest.Admin, authz.BillingCredit, "default", "Preview a credit note", rest.Handle(notes.Preview, rest.Exists(invoices.InvoiceExists), rest.Checks(notes.CheckCredit)))),
		idempotent(allowAPIKeys(authz.CreditWrite, route(post, creditNotes, rest.Admin, authz.BillingCredit, "default", "Create a credit note", rest.Handle(notes.Create, rest.Status(http.StatusCreated), rest.Exists(invoices.InvoiceExists), rest.Checks(notes.CheckCredit))))),
		route(get, adminTenantPath+"/credit-notes/{creditNote}", rest.Admin, authz.TenantsView, "default", "Retrieve a tenant's credit note", rest.Handle(notes.AdminShow)),
		route(get, adminTenantPath+"/credit-notes/{creditNote}/pdf", rest.Admin, authz.TenantsView, "default", "Download a tenant's credit note", rest.File(notes.AdminPDF, "application/pdf")),
		allowAPIKeys(authz.CreditWrite, route(post, adminTenantPath+"/credit-notes/{creditNote}/retry-refund", rest.Admin, authz.BillingCredit, "default", "Retry a failed refund", rest.Handle(notes.RetryRefund, rest.Exists(notes.NoteExists)))),
		route(post, adminTenantPath+"/invoices/{invoice}/void", rest.Admin, authz.TenantsManage, "default", "Void an invoice", rest.Handle(invoices.AdminVoid)),
	}
}
