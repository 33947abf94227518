package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
)

// attributionWindow is how long a new state is attributed to a pending operation. The provider
// remembers the idempotency key for the same time.
const attributionWindow = 24 * time.Hour

// origin is the part of an operation that the audit trail needs if the effect is found later: the
// previous state of the subscription and the user.
type origin struct {
	Status            Status           `json:"status"`
	PlanID            uuid.UUID        `json:"plan_id"`
	Quantity          int64            `json:"quantity"`
	CancelAt          *time.Time       `json:"cancel_at,omitempty"`
	CancelAtPeriodEnd bool             `json:"cancel_at_period_end"`
	TrialEndsAt       *time.Time       `json:"trial_ends_at,omitempty"`
	Pending           *PendingChange   `json:"pending,omitempty"`
	Terms             Terms            `json:"terms,omitzero"`
	Discount          *Discount        `json:"discount,omitempty"`
	Scheduled         *scheduledChange `json:"scheduled,omitempty"`
	ScheduleID        string           `json:"schedule_id,omitempty"`
	By                authz.Origin     `json:"by"`
}

func (op operation) origin() origin {
	b := op.before
	return origin{b.Status, b.PlanID, b.Quantity, b.CancelAt, b.CancelAtPeriodEnd, b.TrialEndsAt, b.Pending, b.Terms, b.Discount, b.Scheduled, b.ScheduleID, op.by}
}

// setOrigin restores the state that the operation was requested on, and the user.
func (op *operation) setOrigin(o origin) {
	b := &op.before
	b.Status, b.PlanID, b.Quantity, op.by = o.Status, o.PlanID, o.Quantity, o.By
	b.CancelAt, b.CancelAtPeriodEnd, b.TrialEndsAt, b.Pending, b.Terms, b.Discount = o.CancelAt, o.CancelAtPeriodEnd, o.TrialEndsAt, o.Pending, o.Terms, o.Discount
	b.Scheduled, b.ScheduleID = o.Scheduled, o.ScheduleID
}

// requestedPlan returns the plan that a pending operation requests at a price of the provider, and the
// caller of the operation. Without such an operation, it returns uuid.Nil.
func (s *Service) requestedPlan(ctx context.Context, sub Subscription, pspPriceID string) (uuid.UUID, *authz.Origin, error) {
	op, isPending, err := s.store.pendingOperation(ctx, sub)
	if err != nil || !isPending || op.Kind != opChange || op.PriceID != pspPriceID {
		return uuid.Nil, nil, err
	}
	return op.PlanID, op.by.Caller(), nil
}

// recordEffect adds the audit entry of a pending operation if the state that is being stored shows
// its effect. The operation stays pending, because a retry still sends the same write. recordEffect
// also records the end of a pending change.
//
// Invariant: any transaction that stores a state, be it after the provider's response, a
// notification or a reconciliation, also records the operation that caused it, exactly once. So
// each change has its audit entry, even if the response is lost.
func (s *Service) recordEffect(ctx context.Context, before, after Subscription) error {
	if err := s.enqueueReleasedItems(ctx, before, after); err != nil {
		return err
	}
	op, isPending, err := s.store.pendingOperation(ctx, after)
	if err != nil {
		return err
	}
	// A second request for the plan of a pending change takes the place of that change.
	if isPending && op.isVisibleIn(after) && s.deps.Clock.Now().Sub(op.createdAt) <= attributionWindow {
		if op.Kind != opChange {
			err = s.recordPendingEnd(ctx, before, after, false)
		}
		if op.Kind != opTrialEnd { // opTrialEnd records that change itself
			err = errors.Join(err, s.recordScheduledEnd(ctx, before, after, false))
		}
		return errors.Join(err, s.recordOperation(ctx, op, after))
	}
	return errors.Join(s.recordPendingEnd(ctx, before, after, !isPending), s.recordScheduledEnd(ctx, before, after, !isPending))
}

// isVisibleIn reports whether a state shows the effect of the operation and the previous state did
// not.
func (op operation) isVisibleIn(after Subscription) bool {
	before := op.before
	switch op.Kind {
	case opCancel:
		return !before.IsEnding() && after.IsEnding()
	case opCancelNow:
		return !before.Status.IsOver() && after.Status == Canceled
	case opResume:
		return before.IsEnding() && !after.IsEnding() && !after.Status.IsOver()
	case opChange:
		made := before.PlanID != op.PlanID && after.PlanID == op.PlanID
		if op.isSeatsOnly() {
			made = before.Quantity != op.Quantity && after.Quantity == op.Quantity
		}
		return made || op.isPendingIn(after)
	case opDrop:
		return before.Pending != nil && after.Pending == nil && after.PlanID == before.PlanID && after.Quantity == before.Quantity
	case opSchedule:
		return after.Scheduled.isSameAs(op.Scheduled) && !before.Scheduled.isSameAs(op.Scheduled)
	case opUnschedule, opLapse:
		return before.Scheduled != nil && after.Scheduled == nil && !before.Scheduled.tookEffectIn(after)
	case opTrialEnd:
		return op.endsTrial(after)
	case opTerms:
		return before.Terms != *op.Terms && after.Terms == *op.Terms
	case opDiscount:
		return op.changesDiscountTo(after)
	case opQuantity:
		return before.Quantity != op.Quantity && after.Quantity == op.Quantity
	default:
		return false
	}
}

// isPendingIn reports whether the change of the operation is pending in a state.
func (op operation) isPendingIn(after Subscription) bool {
	return after.Pending != nil && after.Pending.PlanID == op.PlanID &&
		(after.PlanID != op.PlanID || op.isSeatsOnly() && after.Quantity != op.Quantity)
}

// isSeatsOnly reports whether a change keeps the plan and changes the number of seats.
func (op operation) isSeatsOnly() bool { return op.Kind == opChange && op.before.PlanID == op.PlanID }

// recordPendingEnd records how a pending change ended: it was made, on behalf of the user who
// requested it, or it lapsed. If an operation ended the change, only the operation is recorded.
func (s *Service) recordPendingEnd(ctx context.Context, before, after Subscription, lapsed bool) error {
	switch pending := before.Pending; {
	case pending == nil || after.Pending != nil:
		return nil
	case after.PlanID == pending.PlanID && (before.PlanID != after.PlanID || before.Quantity != after.Quantity):
		by, departures, err := s.store.lastChange(ctx, after, opChange)
		if err != nil {
			return err
		}
		if err := s.deductDepartures(ctx, after, departures); err != nil {
			return err
		}
		action := "subscription.plan_changed"
		if before.PlanID == after.PlanID {
			action = "subscription.quantity_changed"
		}
		return s.deps.Audit.Record(by.NewContext(ctx), before.changeEntry(action, after))
	case lapsed && !after.Status.IsOver():
		return s.deps.Audit.Record(ctx, before.changeEntry("subscription.plan_change_lapsed", after))
	default:
		return nil
	}
}

// recordOperation stores, once, the reason and the user of an operation, which the provider does
// not have.
func (s *Service) recordOperation(ctx context.Context, op operation, after Subscription) error {
	now := s.deps.Clock.Now()
	first, err := s.store.markRecorded(ctx, op, now)
	if err != nil || !first {
		return err
	}
	// A cancellation without a reason keeps the earlier reason.
	if op.Kind == opResume || op.Reason != nil {
		if err := s.store.setReason(ctx, op.before, op.Reason, now); err != nil {
			return err
		}
	}
	if op.Kind != opSchedule && !op.isPendingIn(after) { // until a pending change is made, the seats of former members are billed
		if err := s.deductDepartures(ctx, op.before, op.Departures); err != nil {
			return err
		}
	}
	if op.Kind == opTrialEnd {
		if err := s.mailTrialEnd(ctx, after); err != nil {
			return err
		}
	}
	if op.ForCustomer && op.isPendingIn(after) {
		if err := s.mailChangeWaits(ctx, after); err != nil {
			return err
		}
	}
	if err := s.recordSchedule(ctx, op, after); err != nil || op.isScheduling() {
		return err
	}
	if err := s.recordDiscount(ctx, op, after); err != nil || op.Kind == opDiscount {
		return err
	}
	return s.deps.Audit.Record(op.by.NewContext(ctx), op.auditEntry(after))
}

// auditEntry returns the audit entry of the operation.
func (op operation) auditEntry(after Subscription) audit.Entry {
	switch op.Kind {
	case opCancel, opCancelNow:
		return op.before.cancelEntry(after, op.Kind == opCancelNow, op.Reason)
	case opResume:
		return op.before.changeEntry("subscription.resumed", after)
	case opChange:
		if op.isPendingIn(after) {
			return op.before.changeEntry("subscription.plan_change_waits", after)
		}
		if op.isSeatsOnly() {
			return op.before.changeEntry("subscription.quantity_changed", after)
		}
		return op.before.changeEntry("subscription.plan_changed", after)
	case opDrop:
		return op.before.changeEntry("subscription.plan_change_dropped", after)
	case opTrialEnd:
		return op.trialEndEntry(after)
	case opTerms:
		return op.termsEntry(after)
	case opMetered:
		return op.before.changeEntry("subscription.metered_prices_changed", after)
	default:
		return op.before.changeEntry("subscription.quantity_changed", after)
	}
}

// changeEntry returns the audit entry for a change from s to another state.
func (s Subscription) changeEntry(action string, after Subscription) audit.Entry {
	return audit.Entry{
		Action: action, TenantID: &s.TenantID, Resource: "subscription", ResourceID: s.ID.String(),
		Before: s.auditState(), After: after.auditState(),
	}
}

// cancelEntry is changeEntry for a cancellation.
func (s Subscription) cancelEntry(after Subscription, immediately bool, reason *string) audit.Entry {
	e := s.changeEntry("subscription.canceled", after)
	state := after.auditState()
	state["immediately"], state["reason"] = immediately, reason
	e.After = state
	return e
}

func (s Subscription) auditState() map[string]any {
	return map[string]any{
		"status": s.Status, "plan_id": s.PlanID, "quantity": s.Quantity, "cancel_at_period_end": s.IsEnding(),
	}
}
