package customers

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// CodeConfirm is the code of a payment that waits for the payer's confirmation at the bank.
const CodeConfirm = "authentication_required"

// Failure describes the last attempt to pay an open invoice, if it failed. Otherwise Key is empty.
type Failure struct {
	// Key identifies the attempt among the attempts for the same invoice.
	Key string
	// Code is the reason: the bank's decline code as the provider names it, such as
	// insufficient_funds, or the provider's error code. It is empty if the reason is unknown.
	Code string
	// Confirm means that the payment can still succeed if the payer confirms it.
	Confirm bool
	At      *time.Time // nil if the provider does not send it
}

// FailureOf returns why the last attempt to pay an invoice failed. A payment in progress has not
// failed.
func (w Wallet) FailureOf(ctx context.Context, in psp.Invoice) (Failure, error) {
	if in.Status != "open" || in.PaymentIntentID == "" || in.Attempts == 0 {
		return Failure{}, nil
	}
	pi, _, err := psp.Call(ctx, w.Client, "get failed payment", func(ctx context.Context, api *calls.API) (*stripe.PaymentIntent, error) {
		params := &stripe.PaymentIntentRetrieveParams{}
		params.AddExpand("latest_charge")
		return api.V1PaymentIntents.Retrieve(ctx, in.PaymentIntentID, params)
	})
	if err != nil {
		return Failure{}, err
	}
	attempt := pi.ID + "-" + strconv.FormatInt(in.Attempts, 10)
	switch pi.Status {
	case stripe.PaymentIntentStatusRequiresAction:
		return Failure{Key: "confirm-" + attempt, Code: CodeConfirm, Confirm: true}, nil
	case stripe.PaymentIntentStatusRequiresPaymentMethod:
	default:
		return Failure{}, nil
	}
	f := Failure{Key: "failed-" + attempt}
	if why := pi.LastPaymentError; why != nil {
		f.Code = cmp.Or(string(why.DeclineCode), string(why.Code))
		if why.ChargeID != "" {
			f.Key = "failed-" + why.ChargeID
		}
	}
	if ch := pi.LatestCharge; ch != nil && ch.Status == stripe.ChargeStatusFailed && f.Key == "failed-"+ch.ID {
		at := time.Unix(ch.Created, 0).UTC()
		f.At = &at
	}
	return f, nil
}
