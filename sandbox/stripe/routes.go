package stripe

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/chaos"
	"github.com/tenantry/tenantry/sandbox/stripe/checkout"
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

// routes returns all API endpoints.
func routes() []kernel.Route {
	return slices.Concat(kernel.Routes(), customers.Routes(subscriptions.EndAll, checkout.CloseAll), subscriptions.Routes(),
		catalogRoutes(), billingRoutes(), paymentRoutes(), meterRoutes())
}

// catalogRoutes returns the endpoints for products, prices, discounts and checkout sessions.
func catalogRoutes() []kernel.Route {
	return []kernel.Route{
		{Method: "POST", Pattern: "/v1/products", Run: catalog.CreateProduct},
		{Method: "GET", Pattern: "/v1/products", Run: catalog.ListProducts},
		{Method: "GET", Pattern: "/v1/products/{id}", Run: catalog.GetProduct},
		{Method: "POST", Pattern: "/v1/products/{id}", Run: catalog.UpdateProduct},
		{Method: "POST", Pattern: "/v1/prices", Run: catalog.CreatePrice},
		{Method: "GET", Pattern: "/v1/prices", Run: catalog.ListPrices},
		{Method: "GET", Pattern: "/v1/prices/{id}", Run: catalog.GetPrice},
		{Method: "POST", Pattern: "/v1/prices/{id}", Run: catalog.UpdatePrice},
		{Method: "POST", Pattern: "/v1/coupons", Run: discounts.CreateCoupon},
		{Method: "GET", Pattern: "/v1/coupons", Run: discounts.ListCoupons},
		{Method: "GET", Pattern: "/v1/coupons/{id}", Run: discounts.GetCoupon},
		{Method: "POST", Pattern: "/v1/coupons/{id}", Run: discounts.UpdateCoupon},
		{Method: "DELETE", Pattern: "/v1/coupons/{id}", Run: discounts.DeleteCoupon},
		{Method: "POST", Pattern: "/v1/promotion_codes", Run: discounts.CreateCode},
		{Method: "GET", Pattern: "/v1/promotion_codes", Run: discounts.ListCodes},
		{Method: "GET", Pattern: "/v1/promotion_codes/{id}", Run: discounts.GetCode},
		{Method: "POST", Pattern: "/v1/promotion_codes/{id}", Run: discounts.UpdateCode},
		{Method: "POST", Pattern: "/v1/checkout/sessions", Run: checkout.Create},
		{Method: "GET", Pattern: "/v1/checkout/sessions", Run: checkout.List},
		{Method: "GET", Pattern: "/v1/checkout/sessions/{id}", Run: checkout.Get},
		{Method: "POST", Pattern: "/v1/checkout/sessions/{id}/expire", Run: checkout.Expire},
		{Method: "GET", Pattern: "/v1/checkout/sessions/{id}/line_items", Run: checkout.ListItems},
	}
}

// billingRoutes returns the endpoints for invoices and credit notes. Package subscriptions has the
// endpoints that pay or end an invoice.
func billingRoutes() []kernel.Route {
	return []kernel.Route{
		{Method: "GET", Pattern: "/v1/invoices", Run: invoices.List},
		{Method: "GET", Pattern: "/v1/invoices/{id}", Run: invoices.Get},
		{Method: "GET", Pattern: "/v1/invoices/{id}/lines", Run: invoices.ListLines},
		{Method: "POST", Pattern: "/v1/credit_notes", Run: creditnotes.Create},
		{Method: "GET", Pattern: "/v1/credit_notes", Run: creditnotes.List},
		{Method: "GET", Pattern: "/v1/credit_notes/preview", Run: creditnotes.Preview},
		{Method: "GET", Pattern: "/v1/credit_notes/{id}", Run: creditnotes.Get},
		{Method: "POST", Pattern: "/v1/credit_notes/{id}", Run: creditnotes.Update},
		{Method: "GET", Pattern: "/v1/credit_notes/{id}/lines", Run: creditnotes.ListLines},
		{Method: "POST", Pattern: "/v1/credit_notes/{id}/void", Run: creditnotes.Void},
		{Method: "POST", Pattern: "/v1/invoiceitems", Run: invoices.CreateItem(subscriptions.FindPayer)},
		{Method: "GET", Pattern: "/v1/invoiceitems", Run: invoices.ListItems},
		{Method: "GET", Pattern: "/v1/invoiceitems/{id}", Run: invoices.GetItem},
	}
}

// paymentRoutes returns the endpoints for the balance, payments, refunds and the portal.
func paymentRoutes() []kernel.Route {
	return []kernel.Route{
		{Method: "GET", Pattern: "/v1/balance", Run: payments.GetBalance},
		{Method: "GET", Pattern: "/v1/invoice_payments", Run: invoices.ListPayments},
		{Method: "GET", Pattern: "/v1/invoice_payments/{id}", Run: invoices.GetPayment},
		{Method: "GET", Pattern: "/v1/payment_intents/{id}", Run: payments.GetIntent},
		{Method: "GET", Pattern: "/v1/charges", Run: payments.ListCharges},
		{Method: "GET", Pattern: "/v1/charges/{id}", Run: payments.GetCharge},
		{Method: "POST", Pattern: "/v1/billing_portal/sessions", Run: portal.Create},
		{Method: "GET", Pattern: "/v1/billing_portal/configurations", Run: portal.ListConfigurations},
		{Method: "GET", Pattern: "/v1/billing_portal/configurations/{id}", Run: portal.GetConfiguration},
		{Method: "POST", Pattern: "/v1/billing_portal/configurations/{id}", Run: portal.UpdateConfiguration},
		{Method: "POST", Pattern: "/v1/refunds", Run: payments.CreateRefund},
		{Method: "GET", Pattern: "/v1/refunds", Run: payments.ListRefunds},
		{Method: "GET", Pattern: "/v1/refunds/{id}", Run: payments.GetRefund},
	}
}

// meterRoutes returns the endpoints for meters, their events and test clocks.
func meterRoutes() []kernel.Route {
	return []kernel.Route{
		{Method: "POST", Pattern: "/v1/billing/meters", Run: meters.Create},
		{Method: "GET", Pattern: "/v1/billing/meters", Run: meters.List},
		{Method: "GET", Pattern: "/v1/billing/meters/{id}", Run: meters.Get},
		{Method: "POST", Pattern: "/v1/billing/meters/{id}", Run: meters.Update},
		{Method: "POST", Pattern: "/v1/billing/meters/{id}/deactivate", Run: meters.Deactivate},
		{Method: "POST", Pattern: "/v1/billing/meters/{id}/reactivate", Run: meters.Reactivate},
		{Method: "GET", Pattern: "/v1/billing/meters/{id}/event_summaries", Run: meters.ListSummaries},
		{Method: "POST", Pattern: "/v1/billing/meter_events", Run: meters.CreateEvent},
		{Method: "POST", Pattern: "/v1/test_helpers/test_clocks", Run: createClock},
		{Method: "GET", Pattern: "/v1/test_helpers/test_clocks", Run: listClocks},
		{Method: "GET", Pattern: "/v1/test_helpers/test_clocks/{id}", Run: getClock},
		{Method: "DELETE", Pattern: "/v1/test_helpers/test_clocks/{id}", Run: deleteClock(subscriptions.EndAll, checkout.CloseAll)},
		{Method: "POST", Pattern: "/v1/test_helpers/test_clocks/{id}/advance", Run: advanceClock},
	}
}

// newHandler returns the handler of the API, the hosted pages and the sandbox's controls.
func (s *Server) newHandler(cfg Config) http.Handler {
	checkouts, portals, bills := checkout.NewPage(s.engine, cfg.Brand), portal.NewPage(s.engine, cfg.Brand), hosted.NewPage(s.engine, cfg.Brand)
	mux := http.NewServeMux()
	dashboard.New(s.engine, s.dashboardConfig(cfg)).Register(mux)
	for _, rt := range routes() {
		mux.HandleFunc(rt.Method+" "+s.root+rt.Pattern, s.chaos.Wrap(s.engine.Serve(rt.Method, rt.Run)))
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

// Endpoints returns the API endpoints, sorted by path.
func Endpoints() []dashboard.Route {
	var all []dashboard.Route
	for _, rt := range routes() {
		all = append(all, dashboard.Route{Method: rt.Method, Path: rt.Pattern})
	}
	slices.SortStableFunc(all, func(a, b dashboard.Route) int { return strings.Compare(a.Path, b.Path) })
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

// lists returns the readers of the lists that are returned only when they are expanded.
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
