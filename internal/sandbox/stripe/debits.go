package stripe

import (
	"context"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// The ways to pay on the hosted page.
const (
	methodCard  = "card"
	methodDebit = "sepa_debit"
)

// debitTakes is how long it takes until it is known whether a debit of a bank
// account succeeded, by the injected clock.
const debitTakes = 5 * 24 * time.Hour

// timerDebitSettles goes off when that is known of a payment.
const timerDebitSettles = "payment_intent.settles"

// sepaDebit is a bank account that a customer lets be debited.
type sepaDebit struct {
	BankCode      string `json:"bank_code"`
	BranchCode    string `json:"branch_code"`
	Country       string `json:"country"`
	Fingerprint   string `json:"fingerprint"`
	GeneratedFrom null   `json:"generated_from"`
	Last4         string `json:"last4"`
}

// chargeDebit is a bank account as a charge shows it.
type chargeDebit struct {
	BankCode    string `json:"bank_code"`
	BranchCode  string `json:"branch_code"`
	Country     string `json:"country"`
	Fingerprint string `json:"fingerprint"`
	Last4       string `json:"last4"`
	Mandate     null   `json:"mandate"`
}

// testAccount is one of the account numbers that the hosted page knows. How a
// debit of it ends follows from the number, by its last four digits.
type testAccount struct{ iban, fingerprint string }

// readIBAN finds the test account that was typed in; problem says, for people,
// why there is none.
func readIBAN(typed string) (found testAccount, problem string) {
	iban := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(typed))
	for _, a := range []testAccount{
		{"DE89370400440532013000", "sandbox3000pays0"},
		{"DE62370400440532013001", "sandbox3001fails"},
	} {
		if iban == a.iban {
			return a, ""
		}
	}
	if !validIBAN(iban) {
		return testAccount{}, "This is not a valid IBAN. Use one of the test accounts."
	}
	return testAccount{}, "No real account is debited here. Use one of the test accounts."
}

// validIBAN checks the two digits that guard account numbers against typing
// errors: with the first four characters put last and letters as numbers, the
// whole is 1 modulo 97.
func validIBAN(iban string) bool {
	if len(iban) < 15 || len(iban) > 34 {
		return false
	}
	digits := ""
	for _, r := range iban[4:] + iban[:4] {
		switch {
		case r > unicode.MaxASCII:
			return false
		case unicode.IsDigit(r):
			digits += string(r)
		case unicode.IsUpper(r):
			digits += strconv.Itoa(int(r-'A') + 10)
		default:
			return false
		}
	}
	number, ok := new(big.Int).SetString(digits, 10)
	return ok && number.Mod(number, big.NewInt(97)).Int64() == 1
}

// attachAccount keeps a bank account for a customer.
func (st *step) attachAccount(ctx context.Context, a testAccount, cu *customer) (*paymentMethod, error) {
	pm := st.newPaymentMethod(methodDebit, cu)
	pm.SepaDebit = &sepaDebit{
		Country: a.iban[:2], BankCode: a.iban[4:12], Fingerprint: a.fingerprint, Last4: a.iban[len(a.iban)-4:],
	}
	return pm, st.create(ctx, "payment_method.attached", pm)
}

// delayed tells that a payment is not known to have succeeded until later.
func (pm *paymentMethod) delayed() bool { return pm.SepaDebit != nil }

// debit begins a payment from a bank account, of which the timer tells the end.
func (st *step) debit(ctx context.Context, pi *paymentIntent, pm *paymentMethod) error {
	ch := newCharge(pi, pm, st.now)
	ch.Status, ch.Paid = "pending", false
	pi.Status, pi.LatestCharge, pi.PaymentMethod, pi.LastPaymentError = paymentProcessing, &ch.ID, &pm.ID, nil
	pi.PaymentMethodTypes = []string{methodDebit}
	if err := st.create(ctx, "charge.pending", ch); err != nil {
		return err
	}
	if err := st.create(ctx, "payment_intent.processing", pi); err != nil {
		return err
	}
	return st.setTimer(ctx, timerDebitSettles, pi.ID, st.now+int64(debitTakes/time.Second))
}

// settleDebit is the end of a debit: of the payment, and of what waited for it.
func (st *step) settleDebit(ctx context.Context, id string) error {
	pi, err := paymentIntents.get(ctx, st.q, id, "id")
	if err != nil || pi.Status != paymentProcessing {
		return err
	}
	ch, err := charges.get(ctx, st.q, *pi.LatestCharge, "charge")
	if err != nil {
		return err
	}
	payment, in, err := st.paidFor(ctx, pi)
	if err != nil {
		return err
	}
	sub, err := subscriptions.get(ctx, st.q, in.Parent.SubscriptionDetails.Subscription, "subscription")
	if err != nil {
		return err
	}
	before, event := sub.clone(), "checkout.session.async_payment_succeeded"
	if ch.PaymentMethodDetails.SepaDebit.Last4 == "3001" {
		event = "checkout.session.async_payment_failed"
		err = st.debitFails(ctx, pi, ch, in, sub)
	} else {
		err = st.debitSucceeds(ctx, pi, ch, payment, in, sub)
	}
	if err != nil {
		return err
	}
	if err := st.keep(ctx, before, sub); err != nil {
		return err
	}
	return st.tellCheckout(ctx, in, event)
}

func (st *step) debitSucceeds(ctx context.Context, pi *paymentIntent, ch *charge, payment *invoicePayment, in *invoice, sub *subscription) error {
	ch.Status, ch.Paid = "succeeded", true
	if err := st.create(ctx, "charge.succeeded", ch); err != nil {
		return err
	}
	pi.Status, pi.AmountReceived = "succeeded", pi.Amount
	if err := st.create(ctx, "payment_intent.succeeded", pi); err != nil {
		return err
	}
	if err := st.paid(ctx, payment, in); err != nil {
		return err
	}
	return st.paymentMade(ctx, sub)
}

func (st *step) debitFails(ctx context.Context, pi *paymentIntent, ch *charge, in *invoice, sub *subscription) error {
	code, message := "insufficient_funds", "The customer's account has insufficient funds to cover this payment."
	ch.Status, ch.Captured, ch.AmountCaptured = "failed", false, 0
	ch.FailureCode, ch.FailureMessage = &code, &message
	if err := st.create(ctx, "charge.failed", ch); err != nil {
		return err
	}
	pi.Status, pi.PaymentMethod = "requires_payment_method", nil
	pi.LastPaymentError = &paymentError{Charge: ch.ID, Code: code, Message: message, Type: "invalid_request_error"}
	if err := st.create(ctx, "payment_intent.payment_failed", pi); err != nil {
		return err
	}
	return st.paymentFailed(ctx, sub, in)
}

// paidFor finds the invoice that a payment is for.
func (st *step) paidFor(ctx context.Context, pi *paymentIntent) (*invoicePayment, *invoice, error) {
	found, err := invoicePayments.where(ctx, st.q, `doc ->> '$.payment.payment_intent' = ?`, pi.ID)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 {
		return nil, nil, missing(invoicePayments.label, pi.ID, "payment_intent")
	}
	in, err := invoices.get(ctx, st.q, found[0].Invoice, "invoice")
	return found[0], in, err
}

// tellCheckout tells how the payment of a completed session ended, if the
// invoice is that of one.
func (st *step) tellCheckout(ctx context.Context, in *invoice, event string) error {
	waiting, err := checkouts.where(ctx, st.q, `doc ->> '$.customer' = ? AND doc ->> '$.invoice' = ? AND doc ->> '$.payment_status' = ?`,
		in.Customer, in.ID, paymentUnpaid)
	if err != nil || len(waiting) == 0 {
		return err
	}
	cs := waiting[0]
	if in.Status == invoicePaid {
		cs.PaymentStatus = paymentPaid
	}
	return st.create(ctx, event, cs)
}
