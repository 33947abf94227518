package stripe

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/chaos"
	"github.com/tenantry/tenantry/sandbox/stripe/checkout"
	"github.com/tenantry/tenantry/sandbox/stripe/clocks"
	"github.com/tenantry/tenantry/sandbox/stripe/creditnotes"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/dashboard"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/hosted"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/meters"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
	"github.com/tenantry/tenantry/sandbox/stripe/portal"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// route is an API endpoint.
type route struct {
	method, pattern string
	run             kernel.Endpoint
}

// routes returns all API endpoints.
func routes() []route {
	return slices.Concat(customerRoutes(), billingRoutes(), paymentRoutes(), eventRoutes())
}

// customerRoutes returns the endpoints for the account, customers, products and prices.
func customerRoutes() []route {
	return []route{
		{"GET", "/v1/account", kernel.GetAccount},
		{"GET", "/v1/balance", payments.GetBalance},
		{"POST", "/v1/customers", customers.Create},
		{"GET", "/v1/customers", customers.List},
		{"GET", "/v1/customers/{id}", customers.Get},
		{"POST", "/v1/customers/{id}", customers.Update},
		{"DELETE", "/v1/customers/{id}", customers.Delete(subscriptions.EndAll, checkout.CloseAll)},
		{"POST", "/v1/customers/{id}/balance_transactions", customers.Adjust},
		{"GET", "/v1/customers/{id}/balance_transactions", customers.ListAdjustments},
		{"POST", "/v1/customers/{id}/tax_ids", customers.CreateTaxID},
		{"GET", "/v1/customers/{id}/tax_ids", customers.ListTaxIDs},
		{"GET", "/v1/customers/{id}/tax_ids/{child}", customers.GetTaxID},
		{"DELETE", "/v1/customers/{id}/tax_ids/{child}", customers.DeleteTaxID},
		{"POST", "/v1/products", catalog.CreateProduct},
		{"GET", "/v1/products", catalog.ListProducts},
		{"GET", "/v1/products/{id}", catalog.GetProduct},
		{"POST", "/v1/products/{id}", catalog.UpdateProduct},
		{"POST", "/v1/prices", catalog.CreatePrice},
		{"GET", "/v1/prices", catalog.ListPrices},
		{"GET", "/v1/prices/{id}", catalog.GetPrice},
		{"POST", "/v1/prices/{id}", catalog.UpdatePrice},
		{"POST", "/v1/coupons", discounts.CreateCoupon},
		{"GET", "/v1/coupons", discounts.ListCoupons},
		{"GET", "/v1/coupons/{id}", discounts.GetCoupon},
		{"POST", "/v1/coupons/{id}", discounts.UpdateCoupon},
		{"DELETE", "/v1/coupons/{id}", discounts.DeleteCoupon},
		{"POST", "/v1/promotion_codes", discounts.CreateCode},
		{"GET", "/v1/promotion_codes", discounts.ListCodes},
		{"GET", "/v1/promotion_codes/{id}", discounts.GetCode},
		{"POST", "/v1/promotion_codes/{id}", discounts.UpdateCode},
		{"POST", "/v1/checkout/sessions", checkout.Create},
		{"GET", "/v1/checkout/sessions", checkout.List},
		{"GET", "/v1/checkout/sessions/{id}", checkout.Get},
		{"POST", "/v1/checkout/sessions/{id}/expire", checkout.Expire},
		{"GET", "/v1/checkout/sessions/{id}/line_items", checkout.ListItems},
	}
}

// billingRoutes returns the endpoints for subscriptions and invoices.
func billingRoutes() []route {
	return []route{
		{"POST", "/v1/subscriptions", subscriptions.Create},
		{"GET", "/v1/subscriptions", subscriptions.List},
		{"GET", "/v1/subscriptions/{id}", subscriptions.Get},
		{"POST", "/v1/subscriptions/{id}", subscriptions.Update},
		{"DELETE", "/v1/subscriptions/{id}", subscriptions.Cancel},
		{"POST", "/v1/subscriptions/{id}/resume", subscriptions.Resume},
		{"DELETE", "/v1/subscriptions/{id}/discount", subscriptions.DeleteDiscount},
		{"POST", "/v1/subscription_schedules", subscriptions.Schedules.Create},
		{"GET", "/v1/subscription_schedules", subscriptions.Schedules.List},
		{"GET", "/v1/subscription_schedules/{id}", subscriptions.Schedules.Get},
		{"POST", "/v1/subscription_schedules/{id}", subscriptions.Schedules.Update},
		{"POST", "/v1/subscription_schedules/{id}/release", subscriptions.Schedules.Release},
		{"POST", "/v1/subscription_schedules/{id}/cancel", subscriptions.Schedules.Cancel},
		{"GET", "/v1/subscription_items", subscriptions.ListItems},
		{"GET", "/v1/subscription_items/{id}", subscriptions.GetItem},
		{"GET", "/v1/invoices", invoices.List},
		{"POST", "/v1/invoices/create_preview", subscriptions.PreviewInvoice},
		{"GET", "/v1/invoices/{id}", invoices.Get},
		{"DELETE", "/v1/invoices/{id}", subscriptions.DeleteInvoice},
		{"GET", "/v1/invoices/{id}/lines", invoices.ListLines},
		{"POST", "/v1/invoices/{id}/finalize", subscriptions.FinalizeInvoice},
		{"POST", "/v1/invoices/{id}/pay", subscriptions.PayInvoice},
		{"POST", "/v1/invoices/{id}/void", subscriptions.VoidInvoice},
		{"POST", "/v1/invoices/{id}/mark_uncollectible", subscriptions.MarkUncollectible},
		{"POST", "/v1/credit_notes", creditnotes.Create},
		{"GET", "/v1/credit_notes", creditnotes.List},
		{"GET", "/v1/credit_notes/preview", creditnotes.Preview},
		{"GET", "/v1/credit_notes/{id}", creditnotes.Get},
		{"POST", "/v1/credit_notes/{id}", creditnotes.Update},
		{"GET", "/v1/credit_notes/{id}/lines", creditnotes.ListLines},
		{"POST", "/v1/credit_notes/{id}/void", creditnotes.Void},
		{"POST", "/v1/invoiceitems", invoices.CreateItem(subscriptions.FindPayer)},
		{"GET", "/v1/invoiceitems", invoices.ListItems},
		{"GET", "/v1/invoiceitems/{id}", invoices.GetItem},
	}
}

// paymentRoutes returns the endpoints for payments, payment methods, refunds and the portal.
func paymentRoutes() []route {
	return []route{
		{"GET", "/v1/invoice_payments", invoices.ListPayments},
		{"GET", "/v1/invoice_payments/{id}", invoices.GetPayment},
		{"GET", "/v1/payment_intents/{id}", payments.GetIntent},
		{"GET", "/v1/charges", payments.ListCharges},
		{"GET", "/v1/charges/{id}", payments.GetCharge},
		{"GET", "/v1/payment_methods", customers.ListPaymentMethods},
		{"GET", "/v1/payment_methods/{id}", customers.GetPaymentMethod},
		{"POST", "/v1/payment_methods/{id}", customers.UpdatePaymentMethod},
		{"POST", "/v1/payment_methods/{id}/attach", customers.AttachPaymentMethod},
		{"POST", "/v1/billing_portal/sessions", portal.Create},
		{"GET", "/v1/billing_portal/configurations", portal.ListConfigurations},
		{"GET", "/v1/billing_portal/configurations/{id}", portal.GetConfiguration},
		{"POST", "/v1/billing_portal/configurations/{id}", portal.UpdateConfiguration},
		{"POST", "/v1/refunds", payments.CreateRefund},
		{"GET", "/v1/refunds", payments.ListRefunds},
		{"GET", "/v1/refunds/{id}", payments.GetRefund},
	}
}

// eventRoutes returns the endpoints for meters, their events and the API's own events.
func eventRoutes() []route {
	return []route{
		{"POST", "/v1/billing/meters", meters.Create},
		{"GET", "/v1/billing/meters", meters.List},
		{"GET", "/v1/billing/meters/{id}", meters.Get},
		{"POST", "/v1/billing/meters/{id}", meters.Update},
		{"POST", "/v1/billing/meters/{id}/deactivate", meters.Deactivate},
		{"POST", "/v1/billing/meters/{id}/reactivate", meters.Reactivate},
		{"GET", "/v1/billing/meters/{id}/event_summaries", meters.ListSummaries},
		{"POST", "/v1/billing/meter_events", meters.CreateEvent},
		{"GET", "/v1/events", kernel.ListEvents},
		{"GET", "/v1/events/{id}", kernel.GetEvent},
		{"GET", "/v2/core/events/{id}", kernel.GetThinEvent},
		{"POST", "/v1/test_helpers/test_clocks", clocks.Create},
		{"GET", "/v1/test_helpers/test_clocks", clocks.List},
		{"GET", "/v1/test_helpers/test_clocks/{id}", clocks.Get},
		{"DELETE", "/v1/test_helpers/test_clocks/{id}", clocks.Delete(subscriptions.EndAll, checkout.CloseAll)},
		{"POST", "/v1/test_helpers/test_clocks/{id}/advance", clocks.Advance},
		{"POST", "/v1/webhook_endpoints", kernel.CreateEndpoint},
		{"GET", "/v1/webhook_endpoints", kernel.ListEndpoints},
		{"GET", "/v1/webhook_endpoints/{id}", kernel.GetEndpoint},
		{"POST", "/v1/webhook_endpoints/{id}", kernel.UpdateEndpoint},
		{"DELETE", "/v1/webhook_endpoints/{id}", kernel.DeleteEndpoint},
	}
}

// newHandler returns the handler of the API, the hosted pages and the sandbox's controls.
func (s *Server) newHandler(cfg Config) http.Handler {
	checkouts, portals, bills := checkout.NewPage(s.engine, cfg.Brand), portal.NewPage(s.engine, cfg.Brand), hosted.NewPage(s.engine, cfg.Brand)
	mux := http.NewServeMux()
	dashboard.New(s.engine, s.dashboardConfig(cfg)).Register(mux)
	for _, rt := range routes() {
		mux.HandleFunc(rt.method+" "+s.root+rt.pattern, s.chaos.Wrap(s.engine.Serve(rt.method, rt.run)))
	}
	mux.HandleFunc(s.root+"/", s.engine.Serve("", nil)) // all unknown paths
	mux.HandleFunc("GET "+invoices.PDFPath("{id}"), invoices.ServePDF(s.engine))
	mux.HandleFunc("GET "+kernel.OwnRoot+"/storage/{id}", invoices.ServeFile(s.engine))
	mux.HandleFunc("GET "+creditnotes.PDFPath("{id}"), creditnotes.ServePDF(s.engine))
	mux.HandleFunc("GET "+invoices.PagePath("{id}"), bills.Show)
	mux.HandleFunc("POST "+invoices.PagePath("{id}"), bills.Use)
	mux.HandleFunc("GET "+checkout.Path("{id}"), checkouts.Show)
	mux.HandleFunc("POST "+checkout.Path("{id}"), checkouts.Pay)
	mux.HandleFunc("GET "+portal.Path("{id}"), portals.Show)
	mux.HandleFunc("POST "+portal.Path("{id}/cancel"), portals.Use(portal.Cancel))
	mux.HandleFunc("POST "+portal.Path("{id}/resume"), portals.Use(portal.Resume))
	mux.HandleFunc("POST "+portal.Path("{id}/card"), portals.Use(portal.ChangeCard))
	mux.HandleFunc("GET "+subscriptions.DunningPath, subscriptions.ShowDunning(s.engine))
	mux.HandleFunc("PUT "+subscriptions.DunningPath, subscriptions.ChangeDunning(s.engine))
	mux.HandleFunc("PUT "+customers.RegistryPath, customers.ChangeRegistry(s.engine))
	mux.HandleFunc("GET "+portal.SetupPath, portal.ShowSetup(s.engine))
	mux.HandleFunc("PUT "+portal.SetupPath, portal.ChangeSetup(s.engine))
	mux.HandleFunc("GET "+chaos.Path, s.chaos.Show)
	mux.HandleFunc("PUT "+chaos.Path, s.chaos.Change)
	mux.HandleFunc("GET "+chaos.PagePath, s.chaos.ShowPage)
	mux.HandleFunc("POST "+chaos.PagePath, s.chaos.Submit)
	mux.HandleFunc("GET "+chaos.ReplayPath, s.chaos.ShowReplay)
	mux.HandleFunc("POST "+chaos.ReplayPath, s.chaos.StartReplay)
	return mux
}

// dashboardConfig returns the configuration of the dashboard.
func (s *Server) dashboardConfig(cfg Config) dashboard.Config {
	d := dashboard.Config{API: strings.TrimSuffix(cfg.PublicURL, "/") + s.root, AtRoot: cfg.Alone, Key: cfg.SecretKey, Hook: cfg.WebhookURL, Secret: cfg.WebhookSecret}
	d.Routes = Endpoints()
	return d
}

// Endpoints returns the API endpoints.
func Endpoints() []dashboard.Route {
	var all []dashboard.Route
	for _, rt := range routes() {
		all = append(all, dashboard.Route{Method: rt.method, Path: rt.pattern})
	}
	return all
}

// timers maps the kinds of timers to their actions.
func timers() map[string]kernel.Action {
	actions := map[string]kernel.Action{
		checkout.TimerExpires:          checkout.ExpireDue,
		customers.TimerRegistryAnswers: customers.RegistryAnswers,
		payments.TimerDebitSettles:     checkout.SettleDebit,
		payments.TimerRefundSettles:    payments.SettleRefund,
	}
	maps.Copy(actions, subscriptions.Timers())
	return actions
}

// lists maps the lists that are returned only when they are expanded to their readers.
func lists() map[string]kernel.ListReader {
	return map[string]kernel.ListReader{
		"customer.subscriptions":          subscriptions.ListOfCustomer,
		"customer.invoice_credit_balance": customers.CreditOf,
		"customer.tax_ids":                customers.TaxIDsOf,
		"invoice.payments":                invoices.PaymentsOf,
		"charge.refunds":                  payments.RefundsOf,
		"checkout.session.line_items":     checkout.ItemsOf,
	}
}
