package payments

import (
	"context"
	"math"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Refunds is the collection of refunds.
var Refunds = kernel.Kind[Refund]{Name: "refund", Prefix: "re", Label: "refund", Path: "/v1/refunds"}

// TimerRefundSettles fires when a pending refund succeeds, or a successful refund fails.
const TimerRefundSettles = "refund.settles"

// refundDuration is the time until TimerRefundSettles, by the injected clock. Stripe documents it as
// "some time later".
const refundDuration = 10 * time.Second

// The last four digits of the test cards whose refunds change later
// (https://docs.stripe.com/testing#refunds).
const (
	last4RefundFails   = "5126" // succeeded first, then failed
	last4RefundPending = "7726" // pending first, then succeeded
)

// The statuses of a refund.
const (
	refundPending   = "pending"
	refundSucceeded = "succeeded"
	refundFailed    = "failed"
)

// Refund is a full or partial refund of a charge.
type Refund struct {
	kernel.Header
	Livemode           *bool             `json:"livemode,omitempty"` // refunds have no livemode: this hides the header's field
	Amount             int64             `json:"amount"`
	BalanceTransaction form.Null         `json:"balance_transaction"`
	Charge             string            `json:"charge"`
	Currency           string            `json:"currency"`
	DestinationDetails refundDestination `json:"destination_details"`
	FailureReason      string            `json:"failure_reason,omitempty"`
	Metadata           map[string]string `json:"metadata"`
	PaymentIntent      string            `json:"payment_intent"`
	PendingReason      string            `json:"pending_reason,omitempty"`
	Reason             *string           `json:"reason"`
	ReceiptNumber      form.Null         `json:"receipt_number"`
	SourceReversal     form.Null         `json:"source_transfer_reversal"`
	Status             string            `json:"status"`
	TransferReversal   form.Null         `json:"transfer_reversal"`
}

type refundDestination struct {
	Card struct {
		Reference       string `json:"reference"`
		ReferenceStatus string `json:"reference_status"`
		ReferenceType   string `json:"reference_type"`
		Type            string `json:"type"`
	} `json:"card"`
	Type string `json:"type"`
}

// CreateRefund handles POST /v1/refunds.
func CreateRefund(ctx context.Context, c *kernel.Call) (any, error) {
	re := Refund{Header: Refunds.Start(c.Now)}
	p := c.Params
	if p.Has("charge") == p.Has("payment_intent") {
		p.Fail("payment_intent", "parameter_missing", "One of the following params should be provided for this request: payment_intent or charge.")
	}
	p.Text("charge", &re.Charge)
	p.Text("payment_intent", &re.PaymentIntent)
	p.Integer("amount", 1, math.MaxInt64, &re.Amount)
	p.Metadata(&re.Metadata)
	if p.Has("reason") {
		var reason string
		p.Choice("reason", &reason, "duplicate", "fraudulent", "requested_by_customer")
		re.Reason = &reason
	}
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	ch, err := refundable(ctx, c.Step, re)
	if err != nil {
		return nil, err
	}
	if err := re.make(ctx, c.Step, ch); err != nil {
		return nil, err
	}
	return re, nil
}

// RefundCharge refunds an amount of a charge.
func RefundCharge(ctx context.Context, st *kernel.Step, ch *Charge, amount int64) (*Refund, error) {
	re := &Refund{Header: Refunds.Start(st.Now), Amount: amount, Metadata: map[string]string{}}
	err := re.make(ctx, st, ch)
	return re, err
}

// RefundableAmount returns the amount of the charge that can still be refunded.
func (ch *Charge) RefundableAmount() int64 {
	if ch.Status != "succeeded" {
		return 0
	}
	return ch.Amount - ch.AmountRefunded
}

// make refunds a charge. An amount of 0 means the rest. The test card of the charge decides the
// status.
func (re *Refund) make(ctx context.Context, st *kernel.Step, ch *Charge) error {
	left := ch.RefundableAmount()
	switch {
	case ch.Status != "succeeded":
		return form.Refuse("", "charge_not_refundable", "Charge %s has not succeeded, so it cannot be refunded.", ch.ID)
	case left == 0:
		return form.Refuse("", "charge_already_refunded", "Charge %s has already been refunded.", ch.ID)
	case re.Amount > left:
		return form.Refuse("amount", "", "Refund amount (%s) is greater than unrefunded amount on charge (%s)", form.FormatAmount(re.Amount, ch.Currency), form.FormatAmount(left, ch.Currency))
	case re.Amount == 0:
		re.Amount = left
	}
	re.Charge, re.PaymentIntent, re.Currency, re.Status = ch.ID, ch.PaymentIntent, ch.Currency, refundSucceeded
	re.DestinationDetails.Type = "card"
	re.DestinationDetails.Card.ReferenceStatus = "available"
	re.DestinationDetails.Card.ReferenceType = "acquirer_reference_number"
	re.DestinationDetails.Card.Reference = form.RandomText(23, form.Alphanumeric[:10])
	re.DestinationDetails.Card.Type = "refund"
	if ch.hasCard(last4RefundPending) {
		re.Status, re.PendingReason, re.DestinationDetails.Card.ReferenceStatus = refundPending, "processing", "pending"
	}
	if ch.hasCard(last4RefundPending) || ch.hasCard(last4RefundFails) {
		if err := st.SetTimer(ctx, TimerRefundSettles, re.ID, st.Now+int64(refundDuration/time.Second)); err != nil {
			return err
		}
	}
	if err := st.Create(ctx, "refund.created", re); err != nil {
		return err
	}
	before := *ch
	ch.AmountRefunded += re.Amount
	ch.Refunded = ch.AmountRefunded == ch.Amount
	return st.Change(ctx, "charge.refunded", before, ch)
}

func (ch *Charge) hasCard(last4 string) bool {
	card := ch.PaymentMethodDetails.Card
	return card != nil && card.Last4 == last4
}

// SettleRefund is the action of TimerRefundSettles. A failed refund returns its amount to the charge.
func SettleRefund(ctx context.Context, st *kernel.Step, id string) error {
	re, err := Refunds.Get(ctx, st.Q, id, "id")
	if err != nil {
		return err
	}
	before := *re
	if re.Status == refundPending {
		re.Status, re.PendingReason, re.DestinationDetails.Card.ReferenceStatus = refundSucceeded, "", "available"
		return st.Change(ctx, "refund.updated", before, re)
	}
	re.Status, re.FailureReason, re.DestinationDetails.Card.ReferenceStatus = refundFailed, "expired_or_canceled_card", "unavailable"
	ch, err := Charges.Get(ctx, st.Q, re.Charge, "charge")
	if err != nil {
		return err
	}
	charged := *ch
	ch.AmountRefunded, ch.Refunded = ch.AmountRefunded-re.Amount, false
	if err := st.Change(ctx, "charge.updated", charged, ch); err != nil {
		return err
	}
	if err := st.Change(ctx, "refund.updated", before, re); err != nil {
		return err
	}
	return st.Emit(ctx, "refund.failed", re, nil)
}

// refundable returns the charge to refund.
func refundable(ctx context.Context, st *kernel.Step, re Refund) (*Charge, error) {
	if re.PaymentIntent == "" {
		return Charges.Get(ctx, st.Q, re.Charge, "charge")
	}
	pi, err := Intents.Get(ctx, st.Q, re.PaymentIntent, "payment_intent")
	if err != nil {
		return nil, err
	}
	if pi.LatestCharge == nil {
		return nil, form.Refuse("payment_intent", "", "This PaymentIntent (%s) does not have a successful charge to refund.", pi.ID)
	}
	return Charges.Get(ctx, st.Q, *pi.LatestCharge, "charge")
}

// GetRefund handles GET /v1/refunds/{id}.
func GetRefund(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Refunds)
}

// ListRefunds handles GET /v1/refunds.
func ListRefunds(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "charge", "$.charge")
	f.AddEqual(c.Params, "payment_intent", "$.payment_intent")
	return Refunds.Page(ctx, c, f)
}

// RefundsOf returns the refunds of a charge, as in charge.refunds.
func RefundsOf(ctx context.Context, q kernel.Querier, chargeID string) (any, error) {
	return kernel.ReadList(ctx, q, Refunds, "/v1/charges/"+chargeID+"/refunds", `doc ->> '$.charge' = ?`, chargeID)
}
