package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// timerTrialWillEnd fires three days before a trial ends.
const timerTrialWillEnd = "subscription.trial_will_end"

// trialNotice is how long before the end of a trial its event is sent, in seconds. For a shorter
// trial, the event is sent immediately.
const trialNotice = 3 * 24 * 60 * 60

// The behaviors when a trial ends without a payment method.
const (
	MissingMethodInvoice = "create_invoice"
	missingMethodCancel  = "cancel"
	missingMethodPause   = "pause"
)

// readTrialSettings reads the parameter trial_settings.
func readTrialSettings(p *form.Params, into *string) {
	settings := p.Hash("trial_settings")
	if settings == nil {
		return
	}
	settings.Require("end_behavior")
	if end := settings.Hash("end_behavior"); end != nil {
		end.Require("missing_payment_method")
		end.Choice("missing_payment_method", into, missingMethodCancel, MissingMethodInvoice, missingMethodPause)
	}
}

// scheduleTrialEndEvent schedules the event about the end of a trial, or sends it if the trial ends
// soon.
func scheduleTrialEndEvent(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	if sub.Status != StatusTrialing {
		return nil
	}
	if at := *sub.TrialEnd - trialNotice; at > st.Now {
		return st.SetTimer(ctx, timerTrialWillEnd, sub.ID, at)
	}
	if err := st.StopTimer(ctx, timerTrialWillEnd, sub.ID); err != nil {
		return err
	}
	return st.Emit(ctx, "customer.subscription.trial_will_end", sub, nil)
}

// trialWillEnd sends the event about the end of a trial.
func trialWillEnd(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || sub.Status != StatusTrialing {
		return err
	}
	return st.Emit(ctx, "customer.subscription.trial_will_end", sub, nil)
}

// endTrialWithoutCard cancels or pauses a subscription at the end of its trial, if it has no
// payment method and its trial settings require that. It reports whether the subscription was
// changed.
func endTrialWithoutCard(ctx context.Context, st *kernel.Step, sub *Subscription) (bool, error) {
	if _, err := defaultCard(ctx, st, sub); !errors.Is(err, errNoCard) {
		return false, err
	}
	switch sub.TrialSettings.EndBehavior.MissingPaymentMethod {
	case missingMethodCancel:
		sub.cancel("", st.Now)
	case missingMethodPause:
		sub.Status = StatusPaused
	default:
		return false, nil
	}
	return true, nil
}
