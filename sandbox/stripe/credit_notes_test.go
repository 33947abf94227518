package stripe_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

// noteParams returns the parameters of a credit note for an amount.
func noteParams(invoice string, amount int64) *api.CreditNoteCreateParams {
	return &api.CreditNoteCreateParams{Invoice: &invoice, Amount: &amount}
}

// paidInvoice returns the paid invoice of a new subscription.
func (w *world) paidInvoice(amount int64, currency, card string) *api.Invoice {
	w.t.Helper()
	sub := w.paid(w.checkoutParams(w.sold(amount, currency, "month"), 1), card)
	return w.latestInvoice(sub.ID)
}

// https://docs.stripe.com/api/credit_notes/create: "The sum of refunds, customer balance credits, and
// outside of Stripe credits must equal the post_payment_amount."
func TestCreditNotesOfPaidInvoices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.paidInvoice(1000, "eur", "4242424242424242")
	before := w.eventTypes()
	k := noteParams(in.ID, 600)
	k.RefundAmount, k.CreditAmount, k.OutOfBandAmount = api.Int64(300), api.Int64(200), api.Int64(100)
	k.Reason, k.Memo, k.Metadata = api.String("order_change"), api.String("Sorry"), map[string]string{"a": "b"}
	note := must[*api.CreditNote](t)(w.V1CreditNotes.Create(t.Context(), k))
	if note.Number != in.Number+"-CN-01" || note.Total != 600 || note.PostPaymentAmount != 600 || note.PrePaymentAmount != 0 || note.Type != "post_payment" ||
		note.Status != "issued" || note.OutOfBandAmount != 100 || note.Reason != "order_change" || note.Memo != "Sorry" || note.Metadata["a"] != "b" {
		t.Errorf("created: %+v", note)
	}
	if got := note.Refunds; len(got) != 1 || got[0].AmountRefunded != 300 || note.CustomerBalanceTransaction == nil {
		t.Errorf("refunds: %+v", got)
	}
	want := []string{"invoice.updated", "refund.created", "charge.refunded", "customer.updated", "credit_note.created"}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if got := w.balance(in.Customer.ID); got != -200 {
		t.Errorf("the balance is %d", got)
	}
	get := &api.CreditNoteRetrieveParams{}
	get.AddExpand("refunds.refund")
	note = must[*api.CreditNote](t)(w.V1CreditNotes.Retrieve(t.Context(), note.ID, get))
	if re := note.Refunds[0].Refund; re.Amount != 300 || re.Status != "succeeded" {
		t.Errorf("the refund: %+v", re)
	}
	if got := w.open(http.MethodGet, note.PDF[strings.Index(note.PDF, "/sandbox"):], nil); !strings.HasPrefix(got.body, "%PDF") {
		t.Errorf("the PDF: %d", got.status)
	}
	rest := noteParams(in.ID, 400)
	rest.OutOfBandAmount = api.Int64(400)
	if second := must[*api.CreditNote](t)(w.V1CreditNotes.Create(t.Context(), rest)); second.Number != in.Number+"-CN-02" {
		t.Errorf("the second number is %s", second.Number)
	}
	in = must[*api.Invoice](t)(w.V1Invoices.Retrieve(t.Context(), in.ID, nil))
	if in.PostPaymentCreditNotesAmount != 1000 || in.AmountPaid != 1000 || in.Status != "paid" {
		t.Errorf("the invoice: %+v", in)
	}
	n := 0
	for got, err := range w.V1CreditNotes.List(t.Context(), &api.CreditNoteListParams{Invoice: &in.ID}).All(t.Context()) {
		if n++; err != nil || got.Invoice.ID != in.ID {
			t.Errorf("listed: %+v, %v", got, err)
		}
	}
	if n != 2 {
		t.Errorf("%d credit notes are listed", n)
	}
}

// https://docs.stripe.com/api/credit_notes/create: "A credit note will first reduce the invoice's
// amount_remaining (and amount_due), but not below zero." An open invoice is paid when its
// amount_remaining is zero.
func TestCreditNotesOfOpenInvoices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub, in := w.sent() // 2468
	note := must[*api.CreditNote](t)(w.V1CreditNotes.Create(t.Context(), noteParams(in.ID, 468)))
	if note.Type != "pre_payment" || note.PrePaymentAmount != 468 || note.PostPaymentAmount != 0 {
		t.Errorf("created: %+v", note)
	}
	in = w.latestInvoice(sub.ID)
	if in.AmountRemaining != 2000 || in.AmountDue != 2000 || in.PrePaymentCreditNotesAmount != 468 || in.Total != 2468 || in.Status != "open" {
		t.Errorf("the invoice: %+v", in)
	}
	before := w.eventTypes()
	note = must[*api.CreditNote](t)(w.V1CreditNotes.VoidCreditNote(t.Context(), note.ID, nil))
	if note.Status != "void" || note.VoidedAt == 0 {
		t.Errorf("voided: %+v", note)
	}
	if got := w.since(before); !slices.Contains(got, "credit_note.voided") {
		t.Errorf("events: %v", got)
	}
	_, err := w.V1CreditNotes.VoidCreditNote(t.Context(), note.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	if in = w.latestInvoice(sub.ID); in.AmountRemaining != 2468 || in.PrePaymentCreditNotesAmount != 0 {
		t.Errorf("after the void: %+v", in)
	}
	k := noteParams(in.ID, 2468)
	k.OutOfBandAmount = api.Int64(1)
	_, err = w.V1CreditNotes.Create(t.Context(), k)
	refused(t, err, http.StatusBadRequest, "", "")
	k.OutOfBandAmount = nil
	must[*api.CreditNote](t)(w.V1CreditNotes.Create(t.Context(), k))
	if in = w.latestInvoice(sub.ID); in.Status != "paid" || in.AmountRemaining != 0 || in.AmountPaid != 0 || in.AmountDue != 0 {
		t.Errorf("credited in full: %+v", in)
	}
}

// https://docs.stripe.com/invoicing/dashboard/credit-notes: credit notes decrease the amount of an open or
// paid invoice, so drafts and void invoices cannot be credited, and their sum cannot exceed the invoice's
// total. https://docs.stripe.com/api/credit_notes/void: only credit notes of open invoices can be voided.
func TestCreditNoteErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.paidInvoice(1000, "eur", "4242424242424242")
	refuse := func(name, param string, k *api.CreditNoteCreateParams) {
		t.Helper()
		_, err := w.V1CreditNotes.Create(t.Context(), k)
		t.Logf("%s: %s", name, refused(t, err, http.StatusBadRequest, "", param))
	}
	k := noteParams(in.ID, 500)
	refuse("parts that do not add up", "", k)
	k.RefundAmount = api.Int64(499)
	refuse("one cent less", "", k)
	k.Reason = api.String("other")
	refuse("a reason that Stripe does not have", "reason", k)
	k = noteParams(in.ID, 1001)
	k.OutOfBandAmount = api.Int64(1001)
	refuse("more than the invoice", "amount", k)
	refuse("neither amount nor lines", "amount", &api.CreditNoteCreateParams{Invoice: &in.ID})

	must[*api.Refund](t)(w.V1Refunds.Create(t.Context(), &api.RefundCreateParams{PaymentIntent: w.intentOf(in), Amount: api.Int64(900)}))
	k = noteParams(in.ID, 101)
	k.RefundAmount = api.Int64(101)
	refuse("more than was not refunded by hand", "refund_amount", k)
	k = noteParams(in.ID, 100)
	k.RefundAmount = api.Int64(100)
	note := must[*api.CreditNote](t)(w.V1CreditNotes.Create(t.Context(), k))
	_, err := w.V1CreditNotes.VoidCreditNote(t.Context(), note.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")

	_, open := w.sent()
	draft := w.latestInvoice(must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), w.sentParams(open.Customer.ID, 14))).ID)
	refuse("a draft", "invoice", noteParams(draft.ID, 1))
	must[*api.Invoice](t)(w.V1Invoices.VoidInvoice(t.Context(), open.ID, nil))
	refuse("a void invoice", "invoice", noteParams(open.ID, 1))
	kwd := w.paidInvoice(1000, "kwd", "4242424242424242")
	k = noteParams(kwd.ID, 15)
	k.RefundAmount = api.Int64(15)
	refuse("fils that are not tens", "amount", k)
}

// intentOf returns the payment intent that paid an invoice.
func (w *world) intentOf(in *api.Invoice) *string {
	w.t.Helper()
	for payment, err := range w.V1InvoicePayments.List(w.t.Context(), &api.InvoicePaymentListParams{Invoice: &in.ID}).All(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		return &payment.Payment.PaymentIntent.ID
	}
	w.t.Fatal("the invoice was not paid")
	return nil
}

// https://docs.stripe.com/api/credit_notes/preview: a preview has the same amounts and stores
// nothing. https://docs.stripe.com/api/credit_notes/create, lines: an invoice line is credited with
// its share of the discount.
func TestLinesOfCreditNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, code := w.coupon("HALF", nil, nil)
	in := w.latestInvoice(w.discounted(w.sold(1001, "eur", "month"), code).ID)
	line := in.Lines.Data[0].ID
	before := w.eventTypes()
	preview := must[*api.CreditNote](t)(w.V1CreditNotes.Preview(t.Context(), &api.CreditNotePreviewParams{
		Invoice: &in.ID, OutOfBandAmount: api.Int64(250),
		Lines: []*api.CreditNotePreviewLineParams{{Type: api.String("invoice_line_item"), InvoiceLineItem: &line, Amount: api.Int64(500)}},
	}))
	if preview.Subtotal != 500 || preview.DiscountAmount != 250 || preview.Total != 250 || len(w.since(before)) != 0 {
		t.Errorf("the preview: %+v", preview)
	}
	note := must[*api.CreditNote](t)(w.V1CreditNotes.Create(t.Context(), &api.CreditNoteCreateParams{
		Invoice: &in.ID, OutOfBandAmount: api.Int64(260),
		Lines: []*api.CreditNoteCreateLineParams{
			{Type: api.String("invoice_line_item"), InvoiceLineItem: &line, Amount: api.Int64(500)},
			{Type: api.String("custom_line_item"), Description: api.String("Delay"), Quantity: api.Int64(2), UnitAmount: api.Int64(5)},
		},
	}))
	if len(note.Lines.Data) != 2 || note.Lines.Data[0].InvoiceLineItem != line || note.Lines.Data[1].Amount != 10 || note.Total != 260 {
		t.Errorf("created: %+v", note)
	}
	for got, err := range w.V1CreditNotes.ListLines(t.Context(), &api.CreditNoteListLinesParams{CreditNote: &note.ID}).All(t.Context()) {
		if err != nil || got.ID == "" {
			t.Errorf("listed: %+v, %v", got, err)
		}
	}
	_, err := w.V1CreditNotes.Create(t.Context(), &api.CreditNoteCreateParams{
		Invoice: &in.ID, Lines: []*api.CreditNoteCreateLineParams{{Type: api.String("invoice_line_item"), InvoiceLineItem: api.String("il_x"), Amount: api.Int64(1)}},
	})
	refused(t, err, http.StatusBadRequest, "resource_missing", "lines[0][invoice_line_item]")
	note = must[*api.CreditNote](t)(w.V1CreditNotes.Update(t.Context(), note.ID, &api.CreditNoteUpdateParams{Memo: api.String("Later")}))
	if note.Memo != "Later" {
		t.Errorf("updated: %+v", note)
	}
}

// https://docs.stripe.com/testing#refunds: with 4000 0000 0000 5126 a refund succeeds and some time later
// fails, with refund.failed; with 4000 0000 0000 7726 it is pending and some time later succeeds, with
// refund.updated.
func TestRefundsChangeLater(t *testing.T) {
	t.Parallel()
	for card, want := range map[string]struct {
		first, last api.RefundStatus
		event       string
		refunded    int64
	}{
		"4000000000005126": {"succeeded", "failed", "refund.failed", 0},
		"4000000000007726": {"pending", "succeeded", "refund.updated", 400},
	} {
		w := newWorld(t)
		in := w.paidInvoice(1000, "eur", card)
		re := must[*api.Refund](t)(w.V1Refunds.Create(t.Context(), &api.RefundCreateParams{PaymentIntent: w.intentOf(in), Amount: api.Int64(400)}))
		if re.Status != want.first {
			t.Errorf("%s: at first %s", card, re.Status)
		}
		before := w.eventTypes()
		w.advance(day)
		re = must[*api.Refund](t)(w.V1Refunds.Retrieve(t.Context(), re.ID, nil))
		ch := must[*api.Charge](t)(w.V1Charges.Retrieve(t.Context(), re.Charge.ID, nil))
		if re.Status != want.last || ch.AmountRefunded != want.refunded || !slices.Contains(w.since(before), want.event) {
			t.Errorf("%s: later %s, %d refunded, events %v", card, re.Status, ch.AmountRefunded, w.since(before))
		}
	}
}
