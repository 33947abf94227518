package wallet

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
)

// CodeConfirm is the code of a payment that waits until the payer confirms it at the bank.
const CodeConfirm = "authentication_required"

// Failure is the last attempt to pay an open invoice, which failed; its Key is empty where
// none has.
type Failure struct {
	// Key tells the attempt from the others at the same invoice.
	Key string
	// Code is why: the bank's decline code in the provider's words, such as
	// insufficient_funds, else the provider's error code; empty where nobody says.
	Code string
	// Confirm says that the payment can still succeed, once the payer confirms it.
	Confirm bool
	At      *time.Time // nil where the provider does not say
}

// Failed returns why an invoice was not paid at the last attempt. A payment that is under
// way has not failed.
func (w Wallet) Failed(ctx context.Context, in psp.Invoice) (Failure, error) {
	if in.Status != "open" || in.PaymentIntentID == "" || in.Attempts == 0 {
		return Failure{}, nil
	}
	pi, _, err := psp.Call(ctx, w.Client, "get failed payment", func(ctx context.Context, api *stripe.Client) (*stripe.PaymentIntent, error) {
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
