package stripe

import (
	"net/http"
	"strings"
)

// apiRoot is where the API hangs; a client's own paths begin with /v1. As
// stripe-go refuses a base URL with a path, its transport has to put this one in
// front.
const apiRoot = "/sandbox/stripe"

// route is one endpoint of the API; the one without an endpoint stands for all
// that is unknown.
type route struct {
	method, pattern string
	run             endpoint
}

func routes() []route {
	return []route{
		{"GET", "/v1/account", getAccount},
		{"POST", "/v1/customers", createCustomer},
		{"GET", "/v1/customers", listCustomers},
		{"GET", "/v1/customers/{id}", getCustomer},
		{"POST", "/v1/customers/{id}", updateCustomer},
		{"DELETE", "/v1/customers/{id}", deleteCustomer},
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
		{"GET", "/v1/events", listEvents},
		{"GET", "/v1/events/{id}", getEvent},
	}
}

// Handler serves the API below /sandbox/stripe/v1, the PDFs of invoices below
// /sandbox/stripe/invoices, the hosted pages below /sandbox/checkout and
// /sandbox/portal, the setting /sandbox/stripe/dunning, and what makes the
// provider misbehave: /sandbox/stripe/chaos, /sandbox/stripe/replay
// and the page /sandbox/chaos.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes() {
		mux.HandleFunc(rt.method+" "+apiRoot+rt.pattern, s.unlucky(s.serve(rt)))
	}
	mux.HandleFunc(apiRoot+"/", s.serve(route{})) // whatever is no endpoint
	mux.HandleFunc("GET "+invoicePDFPath("{id}"), s.serveInvoicePDF)
	mux.HandleFunc("GET "+checkoutPath("{id}"), s.showCheckout)
	mux.HandleFunc("POST "+checkoutPath("{id}"), s.payCheckout)
	mux.HandleFunc("GET "+portalPath("{id}"), s.showPortal)
	mux.HandleFunc("POST "+portalPath("{id}/cancel"), s.usePortal(cancelInPortal))
	mux.HandleFunc("POST "+portalPath("{id}/resume"), s.usePortal(resumeInPortal))
	mux.HandleFunc("POST "+portalPath("{id}/card"), s.usePortal(changeCardInPortal))
	mux.HandleFunc("GET "+dunningPath, s.showDunning)
	mux.HandleFunc("PUT "+dunningPath, s.changeDunning)
	mux.HandleFunc("GET "+chaosPath, s.showChaos)
	mux.HandleFunc("PUT "+chaosPath, s.changeChaos)
	mux.HandleFunc("GET "+chaosPagePath, s.chaosForm)
	mux.HandleFunc("POST "+chaosPagePath, s.submitChaos)
	mux.HandleFunc("GET "+replayPath, s.showReplay)
	mux.HandleFunc("POST "+replayPath, s.startReplay)
	return mux
}

// apiPath is the path of a request as Stripe's clients know it.
func apiPath(r *http.Request) string { return strings.TrimPrefix(r.URL.Path, apiRoot) }

// unknownURL answers what is no endpoint of the sandbox.
func unknownURL(r *http.Request) *apiError {
	e := refuse("", "", "Unrecognized request URL (%s: %s). The sandbox stands in for a part of Stripe only.", r.Method, apiPath(r))
	e.status, e.unstarted = http.StatusNotFound, true
	return e
}
