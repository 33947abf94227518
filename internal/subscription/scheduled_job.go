package subscription

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
)

// The kinds of jobs that restore the provider's state of a subscription.
const (
	// JobDiscount applies again a discount that the invoice of a trial used up.
	JobDiscount = "subscription.discount"
	// JobSchedule brings the provider's schedule of a subscription up to date.
	JobSchedule = "subscription.schedule"
)

const (
	// recheckLead is how long before a scheduled change the tenant's usage is checked again.
	recheckLead = time.Hour
	// eligiblePause is the pause between these checks.
	eligiblePause = 15 * time.Minute
	// restorePause is how long an operation that released a schedule can take until its outcome is
	// looked up.
	restorePause = 2 * time.Minute
)

// scheduleJob is the content of JobSchedule.
type scheduleJob struct {
	PSPSubscriptionID string `json:"psp_subscription_id"`
	// Refresh sets the change again, because the subscription has changed.
	Refresh bool `json:"refresh,omitzero"`
	// OperationID is an operation that released the schedule. If it had no effect, its scheduled
	// change is restored.
	OperationID uuid.UUID `json:"operation_id,omitzero"`
}

func (s *Service) enqueueScheduleJob(ctx context.Context, j scheduleJob, key string, at time.Time) error {
	return s.deps.Jobs.Enqueue(ctx, JobSchedule, j, jobs.Key(j.PSPSubscriptionID+" "+key), jobs.At(at))
}

// enqueueSchedule enqueues the work that the schedule of a state requires. Call it in the transaction
// that stores the state.
func (s *Service) enqueueSchedule(ctx context.Context, known, next Subscription) error {
	if next.ScheduleID == "" || next.Status.IsOver() {
		return nil
	}
	now, j := s.deps.Clock.Now(), scheduleJob{PSPSubscriptionID: next.PSPSubscriptionID}
	if next.Scheduled == nil || next.IsEnding() {
		return s.enqueueScheduleJob(ctx, j, "release", now)
	}
	if known.Scheduled != nil && (known.Terms != next.Terms || known.Quantity != next.Quantity || known.discountAtProvider() != next.discountAtProvider()) {
		refresh := j
		refresh.Refresh = true
		if err := s.enqueueScheduleJob(ctx, refresh, "refresh", now); err != nil {
			return err
		}
	}
	return s.enqueueEligibility(ctx, next, next.Scheduled.EffectiveAt.Add(-recheckLead))
}

func (s *Service) enqueueEligibility(ctx context.Context, sub Subscription, at time.Time) error {
	return s.enqueueScheduleJob(ctx, scheduleJob{PSPSubscriptionID: sub.PSPSubscriptionID}, at.Format(time.RFC3339), at)
}

// discountAtProvider returns the provider's discount, or "".
func (s Subscription) discountAtProvider() string {
	if s.Discount == nil {
		return ""
	}
	return s.Discount.PSPID
}

// enqueueRestore enqueues the restoration of the scheduled change that an operation releases. Call it
// in the transaction that stores the operation or its failure.
func (s *Service) enqueueRestore(ctx context.Context, op operation, at time.Time) error {
	if op.before.Scheduled == nil || !op.releases() {
		return nil
	}
	return s.enqueueScheduleJob(ctx, scheduleJob{PSPSubscriptionID: op.before.PSPSubscriptionID, OperationID: op.id}, op.key()+" "+at.Format(time.RFC3339Nano), at)
}

// releases reports whether an operation releases the schedule before its own write.
func (op operation) releases() bool {
	return op.Kind == opChange || op.Kind == opCancel || op.Kind == opCancelNow || op.Kind == opTrialEnd && !op.movesSchedule()
}

// HandleSchedule handles JobSchedule.
func (s *Service) HandleSchedule(ctx context.Context, job jobs.Job) error {
	var j scheduleJob
	if err := job.Decode(&j); err != nil {
		return err
	}
	o := steps{
		load: func(ctx context.Context) (Subscription, error) { return s.store.byPSPID(ctx, j.PSPSubscriptionID) },
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			if j.OperationID != uuid.Nil {
				return s.checkRestore(ctx, sub, j.OperationID)
			}
			return s.checkSchedule(ctx, sub, j.Refresh)
		},
	}
	var err error
	if j.OperationID != uuid.Nil { // its release may not have been read back yet
		err = s.ReadBack(ctx, j.PSPSubscriptionID, nil)
	}
	if err == nil {
		_, err = s.schedule(ctx, o)
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, subscriptions.ErrPeriodEnded) { // the new period is read back
		return nil
	}
	return psp.MarkPermanent(err)
}

// checkSchedule returns the instruction that the schedule of a subscription requires: to release
// the schedule, to drop a change because the tenant's usage exceeds the new plan, or to update the
// change.
func (s *Service) checkSchedule(ctx context.Context, sub Subscription, refresh bool) (instruction, verdict, error) {
	now, c := s.deps.Clock.Now(), sub.Scheduled
	switch {
	case sub.ScheduleID == "" || !sub.Status.IsRunning():
		return instruction{}, nothingToDo, nil
	case c == nil || sub.IsEnding(): // a cancellation at the provider ends the change, too
		return instruction{Kind: opRelease}, mustSend, nil
	case !now.Before(c.EffectiveAt): // its effect will be read back
		return instruction{}, nothingToDo, nil
	}
	if !now.Before(c.EffectiveAt.Add(-recheckLead)) && c.PlanID != sub.PlanID {
		lapses, err := s.isOverScheduledPlan(ctx, sub, now)
		if err != nil || lapses {
			return instruction{Kind: opLapse}, mustSend, err
		}
	}
	in, err := s.scheduleInstruction(ctx, opReschedule, sub, *c)
	if err != nil || !refresh && in.Quantity == c.Quantity {
		return instruction{}, nothingToDo, err
	}
	return in, mustSend, nil
}

// isOverScheduledPlan reports whether the tenant uses more than the scheduled plan allows. If not, it
// enqueues the next check, unless the change takes effect first.
func (s *Service) isOverScheduledPlan(ctx context.Context, sub Subscription, now time.Time) (bool, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.Scheduled.PlanID)
	if err != nil {
		return false, err
	}
	violations, err := s.deps.Entitlements.Violations(ctx, sub.TenantID, plan)
	if err != nil || len(violations) > 0 {
		return err == nil, err
	}
	if again := now.Add(eligiblePause); again.Before(sub.Scheduled.EffectiveAt) {
		return false, s.deps.DB.Tx(ctx, func(ctx context.Context) error { return s.enqueueEligibility(ctx, sub, again) })
	}
	return false, nil
}

// checkRestore returns the instruction to schedule again a change that an operation without effect has
// released.
func (s *Service) checkRestore(ctx context.Context, sub Subscription, id uuid.UUID) (instruction, verdict, error) {
	op, state, err := s.store.operationByID(ctx, sub, id)
	if errors.Is(err, errNoOperation) {
		return instruction{}, nothingToDo, nil
	}
	if err != nil {
		return instruction{}, nothingToDo, err
	}
	c := op.before.Scheduled
	canSchedule := func() bool { return s.requireSchedulable(sub) == nil }
	if state == stateDone || op.isVisibleIn(sub) || c == nil || sub.Scheduled != nil || !sub.Status.IsRunning() ||
		sub.PlanID != op.before.PlanID || !sub.CurrentPeriodEnd.Equal(c.EffectiveAt) || !canSchedule() {
		return instruction{}, nothingToDo, nil
	}
	in, err := s.scheduleInstruction(ctx, opReschedule, sub, *c)
	return in, mustSend, err
}

// followTeam updates the seats of a scheduled change to match the team.
func (s *Service) followTeam(ctx context.Context, tenantID uuid.UUID) error {
	sub, err := s.loadRunning(ctx, tenantID)
	if err != nil || sub.Scheduled == nil {
		return err
	}
	_, err = s.schedule(ctx, steps{
		load: s.runningLoader(tenantID),
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			if sub.Scheduled == nil {
				return instruction{}, nothingToDo, nil
			}
			return s.checkSchedule(ctx, sub, false)
		},
	})
	return err
}

// recordScheduledEnd records the end of a scheduled change: it took effect, on behalf of the user who
// requested it, or it was dropped at the provider. If an operation ended it, only that operation is
// recorded.
func (s *Service) recordScheduledEnd(ctx context.Context, before, after Subscription, lapsed bool) error {
	c := before.Scheduled
	switch {
	case c == nil || after.Scheduled != nil:
		return nil
	case c.tookEffectIn(after):
		return errors.Join(s.deductDepartures(ctx, after, after.Departures), s.recordBegun(ctx, before, after))
	case lapsed && !after.Status.IsOver():
		return s.deps.Audit.Record(ctx, after.scheduledEntry("subscription.plan_change_lapsed", *c))
	}
	return nil
}

// recordBegun records that a scheduled change took effect, on behalf of the user who requested it.
func (s *Service) recordBegun(ctx context.Context, before, after Subscription) error {
	by, _, err := s.store.lastChange(ctx, after, opSchedule)
	if err != nil {
		return err
	}
	return s.deps.Audit.Record(by.NewContext(ctx), before.changeEntry("subscription.plan_changed", after))
}

// recordSchedule records an operation on the schedule, and the scheduled change that it or another
// change replaces.
func (s *Service) recordSchedule(ctx context.Context, op operation, after Subscription) error {
	was := op.before.Scheduled
	entry := func(action string, c scheduledChange) error {
		return s.deps.Audit.Record(op.by.NewContext(ctx), after.scheduledEntry(action, c))
	}
	switch {
	case op.Kind == opTrialEnd && was.tookEffectIn(after):
		return s.recordBegun(ctx, op.before, after)
	case was != nil && was.tookEffectIn(after): // the change took effect first
	case was != nil && (op.Kind == opLapse || op.Kind == opTrialEnd && op.Scheduled == nil && !after.Status.IsOver()):
		return errors.Join(entry("subscription.plan_change_lapsed", *was), s.mailLapsed(ctx, after, *was))
	case was != nil && (op.Kind == opUnschedule || op.Kind == opChange || op.Kind == opSchedule):
		if err := entry("subscription.plan_change_dropped", *was); err != nil {
			return err
		}
	}
	if op.Kind == opSchedule {
		return entry("subscription.plan_change_scheduled", *op.Scheduled)
	}
	return nil
}

// isScheduling reports whether an operation only concerns the schedule.
func (op operation) isScheduling() bool {
	return op.Kind == opSchedule || op.Kind == opUnschedule || op.Kind == opLapse
}

// scheduledEntry returns the audit entry about a scheduled change.
func (s Subscription) scheduledEntry(action string, c scheduledChange) audit.Entry {
	return audit.Entry{
		Action: action, TenantID: &s.TenantID, Resource: "subscription", ResourceID: s.ID.String(),
		After: map[string]any{"plan_id": c.PlanID, "quantity": c.Quantity, "price_cents": c.PriceCents, "effective_at": c.EffectiveAt},
	}
}

// mailLapsed mails the owner and the billing address that a scheduled change was dropped, once if they
// are the same.
func (s *Service) mailLapsed(ctx context.Context, sub Subscription, c scheduledChange) error {
	t, err := s.deps.Tenants.Get(ctx, sub.TenantID)
	if err != nil {
		return err
	}
	owner, err := s.ownerEmail(ctx, t)
	if err != nil {
		return err
	}
	billing, err := s.deps.Tenants.BillingEmail(ctx, t)
	if err != nil {
		return err
	}
	plan, err := s.deps.Catalog.Plan(ctx, c.PlanID)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return err
	}
	if owner != nil && billing != nil && strings.EqualFold(*owner, *billing) {
		billing = nil
	}
	for _, to := range []*string{owner, billing} {
		if to == nil {
			continue
		}
		if err := s.deps.Letters.PlanChangeLapsed(ctx, locale, *to, letters.PlanChangeLapsed{Tenant: t.Name, Plan: i18n.Pick(plan.Name, locale)}); err != nil {
			return err
		}
	}
	return nil
}
