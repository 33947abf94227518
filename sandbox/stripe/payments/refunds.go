package payments

import (
	"context"
	"math"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

var refunds = kernel.Kind[refund]{Name: "refund", Prefix: "re", Label: "refund", Path: "/v1/refunds"}

// refund is a full or partial refund of a charge.
type refund struct {
	kernel.Header
	Livemode           *bool             `json:"livemode,omitempty"` // refunds have no livemode: this hides the header's field
	Amount             int64             `json:"amount"`
	BalanceTransaction form.Null         `json:"balance_transaction"`
	Charge             string            `json:"charge"`
	Currency           string            `json:"currency"`
	DestinationDetails refundDestination `json:"destination_details"`
	Metadata           map[string]string `json:"metadata"`
	PaymentIntent      string            `json:"payment_intent"`
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
	re := refund{Header: refunds.Start(c.Now), Status: "succeeded"}
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
	left := ch.Amount - ch.AmountRefunded
	switch {
	case ch.Status != "succeeded":
		return nil, form.Refuse("", "charge_not_refundable", "Charge %s has not succeeded, so it cannot be refunded.", ch.ID)
	case left == 0:
		return nil, form.Refuse("", "charge_already_refunded", "Charge %s has already been refunded.", ch.ID)
	case re.Amount > left:
		return nil, form.Refuse("amount", "", "Refund amount (%s) is greater than unrefunded amount on charge (%s)", form.FormatAmount(re.Amount, ch.Currency), form.FormatAmount(left, ch.Currency))
	case re.Amount == 0:
		re.Amount = left
	}
	re.Charge, re.PaymentIntent, re.Currency = ch.ID, ch.PaymentIntent, ch.Currency
	re.DestinationDetails.Type = "card"
	re.DestinationDetails.Card.ReferenceStatus = "available"
	re.DestinationDetails.Card.ReferenceType = "acquirer_reference_number"
	re.DestinationDetails.Card.Reference = form.RandomText(23, form.Alphanumeric[:10])
	re.DestinationDetails.Card.Type = "refund"
	if err := c.Create(ctx, "refund.created", re); err != nil {
		return nil, err
	}
	before := *ch
	ch.AmountRefunded += re.Amount
	ch.Refunded = ch.AmountRefunded == ch.Amount
	return re, c.Change(ctx, "charge.refunded", before, ch)
}

// refundable returns the charge to refund.
func refundable(ctx context.Context, st *kernel.Step, re refund) (*Charge, error) {
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
	return kernel.Retrieve(ctx, c, refunds)
}

// ListRefunds handles GET /v1/refunds.
func ListRefunds(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "charge", "$.charge")
	f.AddEqual(c.Params, "payment_intent", "$.payment_intent")
	return refunds.Page(ctx, c, f)
}

// RefundsOf returns the refunds of a charge, as in charge.refunds.
func RefundsOf(ctx context.Context, q kernel.Querier, chargeID string) (any, error) {
	return kernel.ReadList(ctx, q, refunds, "/v1/charges/"+chargeID+"/refunds", `doc ->> '$.charge' = ?`, chargeID)
}
