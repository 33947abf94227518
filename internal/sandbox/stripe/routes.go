package stripe

import (
	"net/http"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/chaos"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// route is one endpoint of the API.
type route struct {
	method, pattern string
	run             kernel.Endpoint
}

func routes() []route {
	return []route{
		{"GET", "/v1/account", kernel.GetAccount},
		{"POST", "/v1/customers", createCustomer},
		{"GET", "/v1/customers", listCustomers},
		{"GET", "/v1/customers/{id}", getCustomer},
		{"POST", "/v1/customers/{id}", updateCustomer},
		{"DELETE", "/v1/customers/{id}", deleteCustomer(endSubscriptions, closeCheckouts)},
		{"POST", "/v1/products", createProduct},
		{"GET", "/v1/products", listProducts},
		{"GET", "/v1/products/{id}", getProduct},
		{"POST", "/v1/products/{id}", updateProduct},
		{"POST", "/v1/prices", createPrice},
		{"GET", "/v1/prices", listPrices},
		{"GET", "/v1/prices/{id}", getPrice},
		{"POST", "/v1/prices/{id}", updatePrice},
		{"POST", "/v1/checkout/sessions", createCheckout},
		{"GET", "/v1/checkout/sessions", listCheckouts},
		{"GET", "/v1/checkout/sessions/{id}", getCheckout},
		{"POST", "/v1/checkout/sessions/{id}/expire", expireCheckout},
		{"GET", "/v1/checkout/sessions/{id}/line_items", listCheckoutItems},
		{"POST", "/v1/subscriptions", createSubscription},
		{"GET", "/v1/subscriptions", listSubscriptions},
		{"GET", "/v1/subscriptions/{id}", getSubscription},
		{"POST", "/v1/subscriptions/{id}", updateSubscription},
		{"DELETE", "/v1/subscriptions/{id}", cancelSubscription},
		{"POST", "/v1/subscriptions/{id}/resume", resumeSubscription},
		{"GET", "/v1/invoices", listInvoices},
		{"POST", "/v1/invoices/create_preview", previewInvoice},
		{"GET", "/v1/invoices/{id}", getInvoice},
		{"DELETE", "/v1/invoices/{id}", deleteInvoice},
		{"GET", "/v1/invoices/{id}/lines", listInvoiceLines},
		{"POST", "/v1/invoices/{id}/finalize", finalizeInvoice},
		{"POST", "/v1/invoices/{id}/pay", payInvoice},
		{"POST", "/v1/invoices/{id}/void", voidInvoice},
		{"POST", "/v1/invoices/{id}/mark_uncollectible", writeOffInvoice},
		{"GET", "/v1/invoiceitems", listInvoiceItems},
		{"GET", "/v1/invoiceitems/{id}", getInvoiceItem},
		{"GET", "/v1/invoice_payments", listInvoicePayments},
		{"GET", "/v1/invoice_payments/{id}", getInvoicePayment},
		{"GET", "/v1/payment_intents/{id}", getPaymentIntent},
		{"GET", "/v1/charges/{id}", getCharge},
		{"GET", "/v1/payment_methods", listPaymentMethods},
		{"GET", "/v1/payment_methods/{id}", getPaymentMethod},
		{"POST", "/v1/payment_methods/{id}/attach", attachPaymentMethod},
		{"POST", "/v1/billing/meters", createMeter},
		{"GET", "/v1/billing/meters", listMeters},
		{"GET", "/v1/billing/meters/{id}", getMeter},
		{"POST", "/v1/billing/meters/{id}", updateMeter},
		{"POST", "/v1/billing/meters/{id}/deactivate", deactivateMeter},
		{"POST", "/v1/billing/meters/{id}/reactivate", reactivateMeter},
		{"GET", "/v1/billing/meters/{id}/event_summaries", listMeterSummaries},
		{"POST", "/v1/billing/meter_events", createMeterEvent},
		{"POST", "/v1/billing_portal/sessions", createPortal},
		{"POST", "/v1/refunds", createRefund},
		{"GET", "/v1/refunds", listRefunds},
		{"GET", "/v1/refunds/{id}", getRefund},
		{"GET", "/v1/events", kernel.ListEvents},
		{"GET", "/v1/events/{id}", kernel.GetEvent},
	}
}

// newHandler connects the endpoints of the API, the hosted pages and the
// sandbox's own controls.
func (s *Server) newHandler() (http.Handler, error) {
	checkouts, err := newCheckoutPage(s.engine)
	if err != nil {
		return nil, err
	}
	portals, err := newPortalPage(s.engine)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, rt := range routes() {
		mux.HandleFunc(rt.method+" "+kernel.Root+rt.pattern, s.chaos.Wrap(s.engine.Serve(rt.method, rt.run)))
	}
	mux.HandleFunc(kernel.Root+"/", s.engine.Serve("", nil)) // whatever is no endpoint
	mux.HandleFunc("GET "+invoicePDFPath("{id}"), serveInvoicePDF(s.engine))
	mux.HandleFunc("GET "+checkoutPath("{id}"), checkouts.showCheckout)
	mux.HandleFunc("POST "+checkoutPath("{id}"), checkouts.payCheckout)
	mux.HandleFunc("GET "+portalPath("{id}"), portals.showPortal)
	mux.HandleFunc("POST "+portalPath("{id}/cancel"), portals.usePortal(cancelInPortal))
	mux.HandleFunc("POST "+portalPath("{id}/resume"), portals.usePortal(resumeInPortal))
	mux.HandleFunc("POST "+portalPath("{id}/card"), portals.usePortal(changeCardInPortal))
	mux.HandleFunc("GET "+dunningPath, showDunning(s.engine))
	mux.HandleFunc("PUT "+dunningPath, changeDunning(s.engine))
	mux.HandleFunc("GET "+chaos.Path, s.chaos.Show)
	mux.HandleFunc("PUT "+chaos.Path, s.chaos.Change)
	mux.HandleFunc("GET "+chaos.PagePath, s.chaos.ShowPage)
	mux.HandleFunc("POST "+chaos.PagePath, s.chaos.Submit)
	mux.HandleFunc("GET "+chaos.ReplayPath, s.chaos.ShowReplay)
	mux.HandleFunc("POST "+chaos.ReplayPath, s.chaos.StartReplay)
	return mux, nil
}

// timers are the actions of all timers by their kind.
func timers() map[string]kernel.Action {
	return map[string]kernel.Action{
		timerCheckoutExpires:   expireCheckoutDue,
		timerPeriodEnds:        periodEnds,
		timerTrialWillEnd:      trialWillEnd,
		timerIncompleteExpires: incompleteExpires,
		timerInvoiceFinalizes:  finalizeDue,
		timerInvoiceRetries:    retryDue,
		timerDebitSettles:      settleDebit(tellCheckout),
	}
}

// lists are the lists that objects show only when they are expanded.
func lists() map[string]kernel.ListReader {
	return map[string]kernel.ListReader{
		"customer.subscriptions":      subscriptionsOf,
		"invoice.payments":            paymentsOf,
		"charge.refunds":              refundsOf,
		"checkout.session.line_items": itemsOf,
	}
}
