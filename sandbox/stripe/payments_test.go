package stripe_test

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

// packParams returns the parameters of a session that sells three packs at 5.00 EUR for a one-time
// payment with an invoice (https://docs.stripe.com/payments/checkout/post-payment-invoices).
func (w *world) packParams() *api.CheckoutSessionCreateParams {
	w.t.Helper()
	cu := must[*api.Customer](w.t)(w.V1Customers.Create(w.t.Context(), &api.CustomerCreateParams{
		Name: api.String("Ada Lovelace"), Email: api.String("ada@example.test"),
	}))
	return &api.CheckoutSessionCreateParams{
		Mode: api.String("payment"), Customer: api.String(cu.ID), SuccessURL: api.String("https://app.example.test/done"),
		LineItems: []*api.CheckoutSessionCreateLineItemParams{{
			Quantity: api.Int64(3),
			PriceData: &api.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: api.String("eur"), UnitAmount: api.Int64(500),
				ProductData: &api.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: api.String("1,000 credits")},
			},
		}},
		InvoiceCreation: &api.CheckoutSessionCreateInvoiceCreationParams{
			Enabled:     api.Bool(true),
			InvoiceData: &api.CheckoutSessionCreateInvoiceCreationInvoiceDataParams{Metadata: map[string]string{"pack": "credits"}},
		},
		PaymentIntentData: &api.CheckoutSessionCreatePaymentIntentDataParams{Metadata: map[string]string{"pack": "credits"}},
	}
}

// packSession opens a session with packParams.
func (w *world) packSession() *api.CheckoutSession {
	w.t.Helper()
	return must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Create(w.t.Context(), w.packParams()))
}

// A one-time payment creates a payment intent. Once the payment has succeeded, a paid invoice
// without a subscription is created. The customer's balance stays the same, and the card is not
// saved.
func TestOneTimePayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	params := w.packParams()
	must[*api.CustomerBalanceTransaction](t)(w.V1CustomerBalanceTransactions.Create(ctx, &api.CustomerBalanceTransactionCreateParams{
		Customer: params.Customer, Amount: api.Int64(-700), Currency: api.String("eur"),
	}))
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))
	if session.Mode != "payment" || session.PaymentStatus != "unpaid" || session.AmountTotal != 1500 || session.PaymentIntent != nil || session.Invoice != nil ||
		!session.InvoiceCreation.Enabled || session.PaymentMethodCollection != "if_required" {
		t.Errorf("new session: %+v", session)
	}
	w.visit(http.MethodGet, session.ID, nil).shows(t, "Complete your purchase", "1,000 credits × 3", "Pay €15.00")
	before := len(w.eventTypes())
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Fatalf("paying answered %d: %s", got.status, got.body)
	}
	want := []string{
		"payment_intent.created", "charge.succeeded", "payment_intent.succeeded", "invoice.created", "customer.updated", "invoice.finalized",
		"invoice_payment.paid", "invoice.paid", "invoice.payment_succeeded", "checkout.session.completed",
	}
	if diff := cmp.Diff(want, w.eventTypes()[before:]); diff != "" {
		t.Error(diff)
	}
	get := &api.CheckoutSessionRetrieveParams{}
	get.AddExpand("invoice.payments")
	get.AddExpand("payment_intent.latest_charge")
	get.AddExpand("line_items")
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(ctx, session.ID, get))
	in, pi := session.Invoice, session.PaymentIntent
	if session.Status != "complete" || session.PaymentStatus != "paid" || session.Subscription != nil || pi.Status != "succeeded" || pi.AmountReceived != 1500 ||
		pi.Metadata["pack"] != "credits" || pi.SetupFutureUsage != "" || !pi.LatestCharge.Paid {
		t.Errorf("paid session %+v with %+v", session, pi)
	}
	if in.Status != "paid" || in.BillingReason != "manual" || in.Parent != nil || in.Total != 1500 || in.AmountPaid != 1500 || in.StartingBalance != in.EndingBalance ||
		in.Metadata["pack"] != "credits" || in.Number == "" || in.InvoicePDF == "" || in.Payments.Data[0].Payment.PaymentIntent.ID != pi.ID {
		t.Errorf("invoice %+v", in)
	}
	line := in.Lines.Data[0]
	if line.Description != "1,000 credits" || line.Quantity != 3 || line.Amount != 1500 || line.Pricing.UnitAmountDecimal != 500 || line.Parent.Type != "invoice_item_details" {
		t.Errorf("line %+v", line)
	}
	if price := session.LineItems.Data[0].Price; price.Type != "one_time" || price.Active || price.Recurring != nil {
		t.Errorf("price %+v", price)
	}
	if pm := must[*api.PaymentMethod](t)(w.V1PaymentMethods.Retrieve(ctx, pi.PaymentMethod.ID, nil)); pm.Customer != nil {
		t.Errorf("the card is saved for %s", pm.Customer.ID)
	}
	if cu := must[*api.Customer](t)(w.V1Customers.Retrieve(ctx, *params.Customer, nil)); cu.Balance != -700 {
		t.Errorf("the balance is %d", cu.Balance)
	}
	w.visit(http.MethodGet, session.ID, nil).shows(t, "complete", "Thank you for your purchase.")
	w.open(http.MethodGet, w.pageOf(in), nil).shows(t, "This invoice is paid", "1,000 credits")
	if other := w.V1CheckoutSessions.List(ctx, &api.CheckoutSessionListParams{PaymentIntent: api.String("pi_x")}); other.Err() != nil || len(other.Data()) != 0 {
		t.Errorf("sessions of another payment: %v, %v", other.Data(), other.Err())
	}

	// A paid invoice cannot be changed. Part of the payment can be refunded before the rest.
	for name, err := range map[string]error{
		"void":     second(w.V1Invoices.VoidInvoice(ctx, in.ID, nil)),
		"pay":      second(w.V1Invoices.Pay(ctx, in.ID, nil)),
		"finalize": second(w.V1Invoices.FinalizeInvoice(ctx, in.ID, nil)),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, amount := range []int64{1000, 500} {
		must[*api.Refund](t)(w.V1Refunds.Create(ctx, &api.RefundCreateParams{PaymentIntent: api.String(pi.ID), Amount: api.Int64(amount)}))
	}
	if ch := must[*api.Charge](t)(w.V1Charges.Retrieve(ctx, pi.LatestCharge.ID, nil)); !ch.Refunded || ch.AmountRefunded != 1500 {
		t.Errorf("refunded %d", ch.AmountRefunded)
	}
}

func second[T any](_ T, err error) error { return err }

// The page of a one-time payment takes the same cards as the page of a subscription.
func TestOneTimePaymentCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.packSession()
	if got := w.pay(session.ID, "4000000000000002"); got.status != http.StatusPaymentRequired {
		t.Errorf("a declined card returns %d", got.status)
	}
	w.pay(session.ID, "4000002760003184").shows(t, "Do you approve this payment of €15.00?")
	if got := w.session(session.ID); got.Status != "open" || got.PaymentIntent != nil {
		t.Errorf("the session is %s before the confirmation", got.Status)
	}
	if got := w.visit(http.MethodPost, session.ID, url.Values{"card_number": {"4000002760003184"}, "authentication": {"confirmed"}}); got.status != http.StatusSeeOther {
		t.Errorf("confirming returns %d: %s", got.status, got.body)
	}
	if got := w.session(session.ID); got.PaymentStatus != "paid" || got.Invoice == nil {
		t.Errorf("after the confirmation: got %s", got.PaymentStatus)
	}
	saved := w.packParams()
	saved.PaymentIntentData.SetupFutureUsage = api.String("off_session")
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), saved))
	w.pay(session.ID, "4242424242424242")
	if !slices.Contains(w.eventTypes(), "payment_method.attached") {
		t.Error("the card is not saved with setup_future_usage")
	}
	quiet := w.packParams()
	quiet.InvoiceCreation = nil
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), quiet))
	w.pay(session.ID, "4242424242424242")
	if got := w.session(session.ID); got.PaymentStatus != "paid" || got.Invoice != nil {
		t.Errorf("without invoice creation: %s, invoice %v", got.PaymentStatus, got.Invoice)
	}
}

// A debit completes the session unpaid. The invoice exists once the payment has succeeded.
func TestOneTimePaymentByDebit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for iban, want := range map[string]string{payingIBAN: "checkout.session.async_payment_succeeded", failingIBAN: "checkout.session.async_payment_failed"} {
		session := w.packSession()
		if got := w.visit(http.MethodPost, session.ID, url.Values{"iban": {iban}}); got.status != http.StatusSeeOther {
			t.Fatalf("the debit returns %d", got.status)
		}
		if got := w.session(session.ID); got.Status != "complete" || got.PaymentStatus != "unpaid" || got.Invoice != nil {
			t.Errorf("at first: got %s and %s", got.Status, got.PaymentStatus)
		}
		w.visit(http.MethodGet, session.ID, nil).shows(t, "complete", "debited in the next few days")
		w.advance(5 * 24 * time.Hour)
		w.session(session.ID)
		if events := w.eventTypes(); events[len(events)-1] != want {
			t.Errorf("the last event is %s, want %s", events[len(events)-1], want)
		}
		paid := want == "checkout.session.async_payment_succeeded"
		if got := w.session(session.ID); (got.PaymentStatus == "paid") != paid || (got.Invoice != nil) != paid {
			t.Errorf("%s: then: got %s", iban, got.PaymentStatus)
		}
	}
}
