package portal

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// cardError is a message for the customer about an invalid card number.
type cardError string

func (w cardError) Error() string { return string(w) }

// Cancel schedules the end of a subscription for the end of its period. With flexible billing, the
// portal sets cancel_at instead of cancel_at_period_end.
func Cancel(ctx context.Context, st *kernel.Step, session *Session, form formValues) error {
	return setEnding(ctx, st, session, form("subscription"), true)
}

// Resume removes the scheduled end of a subscription.
func Resume(ctx context.Context, st *kernel.Step, session *Session, form formValues) error {
	return setEnding(ctx, st, session, form("subscription"), false)
}

// setEnding sets whether a subscription ends with its period.
func setEnding(ctx context.Context, st *kernel.Step, session *Session, id string, ending bool) error {
	sub, err := subscriptions.All.Find(ctx, st.Q, id)
	if errors.Is(err, kernel.ErrNotFound) {
		return errForeignSubscription
	}
	if err != nil {
		return err
	}
	if sub.Customer != session.Customer || !sub.IsRunning() {
		return errForeignSubscription
	}
	before := sub.Clone()
	switch _, end := sub.Period(); {
	case (sub.CancelAt != nil) == ending:
		return nil // the form was submitted twice
	case ending:
		sub.EndAt(&end, st.Now)
	default:
		sub.CancelAtPeriodEnd = false
		sub.EndAt(nil, st.Now)
	}
	return subscriptions.Save(ctx, st, before, sub)
}

// ChangeCard makes a new card the customer's default. It does not pay open invoices. A declined
// card changes nothing.
func ChangeCard(ctx context.Context, st *kernel.Step, session *Session, form formValues) error {
	found, problem := customers.ReadCard(form("card_number"))
	switch {
	case problem != "":
		return cardError(problem)
	case found.Declines:
		return customers.ErrDeclined
	}
	cu, err := customers.FindLive(ctx, st, session.Customer, "customer")
	if err != nil {
		return err
	}
	pm := customers.NewCard(st, found, cu)
	if err := pm.Attach(ctx, st); err != nil {
		return err
	}
	return subscriptions.SetDefaultCard(ctx, st, cu, pm)
}
