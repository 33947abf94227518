package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// maxTrial is the longest time between the start of a subscription and the end of its trial.
const maxTrial = 730 * 24 * time.Hour

// moveTrialEnd moves the end of a subscription's trial. A zero end ends the trial now: with a payment
// method, the first paid period begins and is charged; without one, the subscription is canceled. A
// scheduled change takes effect at the new end. If the trial ends now and the tenant uses more than the
// scheduled plan allows, the change is dropped. moveTrialEnd rejects another tenant's subscription
// (404), an end in the past or too far away (422), and a subscription without a running trial
// (subscription_not_trialing). The owner gets a mail.
func (s *Service) moveTrialEnd(ctx context.Context, tenantID, id uuid.UUID, end time.Time) (Subscription, error) {
	in := instruction{Kind: opTrialEnd, TrialEnd: end}
	return s.operate(ctx, steps{
		load: s.store.loaderByID(tenantID, id),
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			if err := s.checkTrialEnd(sub, end); err != nil || sub.Scheduled == nil {
				return in, mustSend, err
			}
			if end.IsZero() && sub.Scheduled.PlanID != sub.PlanID {
				plan, err := s.deps.Catalog.Plan(ctx, sub.Scheduled.PlanID)
				if err != nil {
					return in, mustSend, err
				}
				violations, err := s.deps.Entitlements.Violations(ctx, sub.TenantID, plan)
				if err != nil || len(violations) > 0 {
					return in, mustSend, err
				}
			}
			moved, err := s.scheduleInstruction(ctx, opTrialEnd, sub, *sub.Scheduled)
			moved.TrialEnd = end
			return moved, mustSend, err
		},
		repeats: func(earlier instruction) bool { return earlier.Kind == opTrialEnd && earlier.TrialEnd.Equal(end) },
		send:    s.sendTrialEnd,
	})
}

func (s *Service) checkTrialEnd(sub Subscription, end time.Time) error {
	start := sub.CreatedAt
	if sub.CurrentPeriodStart.Before(start) { // stored later than it began at the provider
		start = sub.CurrentPeriodStart
	}
	switch {
	case !end.IsZero() && !end.After(s.deps.Clock.Now()):
		return errTrialEndPast
	case end.After(start.Add(maxTrial)):
		return errTrialEndFar
	case sub.Status != Trialing:
		return errNotTrialing
	}
	return nil
}

// sendTrialEnd moves or ends a trial at the provider.
func (s *Service) sendTrialEnd(ctx context.Context, op operation) error {
	if op.movesSchedule() {
		return s.sendSchedule(ctx, op)
	}
	if err := s.releaseSchedule(ctx, op); err != nil {
		return err
	}
	id := op.before.PSPSubscriptionID
	if op.TrialEnd.IsZero() {
		remote, err := s.deps.Provider.GetSubscription(ctx, id)
		if err != nil {
			return err
		}
		if err := s.reapplyBefore(ctx, op, remote); err != nil {
			return err
		}
		if !remote.HasPaymentMethod && !remote.IsSent && !op.before.isWaived() {
			_, err := s.deps.Provider.CancelSubscription(ctx, id, op.key())
			return err
		}
	}
	var err error
	if op.Scheduled != nil {
		err = s.deps.Schedules.Begin(ctx, id, op.next(), op.key())
	} else {
		_, err = s.deps.Provider.SetTrialEnd(ctx, id, op.TrialEnd, op.key())
	}
	if err == nil {
		s.sendInvoices(ctx, op, false)
	}
	return err
}

// movesSchedule reports whether an operation moves the end of a trial that has a scheduled change. The
// schedule then manages the end.
func (op operation) movesSchedule() bool { return op.Scheduled != nil && !op.TrialEnd.IsZero() }

// endsTrial reports whether a state shows the effect of opTrialEnd.
func (op operation) endsTrial(after Subscription) bool {
	if op.TrialEnd.IsZero() {
		return op.before.Status == Trialing && after.Status != Trialing
	}
	return after.TrialEndsAt != nil && after.TrialEndsAt.Equal(op.TrialEnd) && !sameTime(op.before.TrialEndsAt, after.TrialEndsAt)
}

// trialEndEntry returns the audit entry of opTrialEnd.
func (op operation) trialEndEntry(after Subscription) audit.Entry {
	return audit.Entry{
		Action: "subscription.updated", TenantID: &after.TenantID, Resource: "subscription", ResourceID: after.ID.String(),
		Before: map[string]any{"trial_ends_at": op.before.TrialEndsAt, "status": op.before.Status},
		After:  map[string]any{"trial_ends_at": after.TrialEndsAt, "status": after.Status},
	}
}

// parseTrialEnd parses the new end of a trial: a time in the future, or the word now, which it
// returns as the zero time. The provider stores whole seconds.
func (s *Service) parseTrialEnd(text *string) (time.Time, error) {
	if text == nil || *text == "now" {
		return time.Time{}, nil
	}
	var end shape.Time
	if err := end.UnmarshalText([]byte(*text)); err != nil {
		return time.Time{}, errTrialEndFormat
	}
	at := end.Std().Truncate(time.Second)
	if !at.After(s.deps.Clock.Now()) {
		return time.Time{}, errTrialEndPast
	}
	return at, nil
}
