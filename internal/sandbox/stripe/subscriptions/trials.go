package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// TimerTrialWillEnd goes off some time before a trial ends.
const TimerTrialWillEnd = "subscription.trial_will_end"

// trialNotice is how long before its end a trial is announced to end, in
// seconds; a shorter one is announced at once.
const trialNotice = 3 * 24 * 60 * 60

// What becomes of a subscription whose trial ends when there is no card.
const (
	WhenNoMethodInvoice = "create_invoice"
	whenNoMethodCancel  = "cancel"
	whenNoMethodPause   = "pause"
)

func readTrialSettings(p *form.Params, into *string) {
	settings := p.Hash("trial_settings")
	if settings == nil {
		return
	}
	settings.Require("end_behavior")
	if end := settings.Hash("end_behavior"); end != nil {
		end.Require("missing_payment_method")
		end.Choice("missing_payment_method", into, whenNoMethodCancel, WhenNoMethodInvoice, whenNoMethodPause)
	}
}

// announceTrialEnd sees to the notice of a trial whose end was set.
func announceTrialEnd(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if sub.Status != Trialing {
		return nil
	}
	if at := *sub.TrialEnd - trialNotice; at > st.Now {
		return st.SetTimer(ctx, TimerTrialWillEnd, sub.ID, at)
	}
	if err := st.StopTimer(ctx, TimerTrialWillEnd, sub.ID); err != nil {
		return err
	}
	return st.Emit(ctx, "customer.subscription.trial_will_end", sub, nil)
}

func TrialWillEnd(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || sub.Status != Trialing {
		return err
	}
	return st.Emit(ctx, "customer.subscription.trial_will_end", sub, nil)
}

// endTrialWithoutCard cancels or pauses a subscription whose trial ends, if
// there is no card and that was asked for. It tells whether it did.
func endTrialWithoutCard(ctx context.Context, st *kernel.Step, sub *Subscription) (bool, error) {
	if pm, err := defaultCard(ctx, st, sub); err != nil || pm != nil {
		return false, err
	}
	switch sub.TrialSettings.EndBehavior.MissingPaymentMethod {
	case whenNoMethodCancel:
		sub.cancel("", st.Now)
	case whenNoMethodPause:
		sub.Status = Paused
	default:
		return false, nil
	}
	return true, nil
}
