package operation

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/subscription"
)

// attributable is for how long a new state is taken for the effect of a pending
// operation: as long as the provider remembers the idempotency key.
const attributable = 24 * time.Hour

// origin is what the audit trail needs of an operation whose effect is found later:
// the subscription as it was, and who asked.
type origin struct {
	Status            subscription.Status         `json:"status"`
	PlanID            uuid.UUID                   `json:"plan_id"`
	Quantity          int64                       `json:"quantity"`
	CancelAt          *time.Time                  `json:"cancel_at,omitempty"`
	CancelAtPeriodEnd bool                        `json:"cancel_at_period_end"`
	Pending           *subscription.PendingChange `json:"pending,omitempty"`
	By                authz.Origin                `json:"by"`
}

func (op operation) origin() origin {
	b := op.before
	return origin{b.Status, b.PlanID, b.Quantity, b.CancelAt, b.CancelAtPeriodEnd, b.Pending, op.by}
}

// restore sets what the operation was asked for on, and by whom.
func (op *operation) restore(o origin) {
	b := &op.before
	b.Status, b.PlanID, b.Quantity, op.by = o.Status, o.PlanID, o.Quantity, o.By
	b.CancelAt, b.CancelAtPeriodEnd, b.Pending = o.CancelAt, o.CancelAtPeriodEnd, o.Pending
}

// PlanAsked returns the plan that a pending change of a subscription asks for at a price
// of the provider, Nil if none does.
func (s *Service) PlanAsked(ctx context.Context, sub subscription.Subscription, pspPriceID string) (uuid.UUID, error) {
	op, err := s.store.pending(ctx, sub)
	switch {
	case errors.Is(err, errNoOperation):
		return uuid.Nil, nil
	case err != nil || op.Kind != opChange || op.PriceID != pspPriceID:
		return uuid.Nil, err
	default:
		return op.PlanID, nil
	}
}

// RecordEffect adds the entry of a pending operation to the audit trail if the state
// that is being stored shows its effect. The operation stays pending: a repetition is
// still the same write. The end of a change that waited is recorded too.
//
// Invariant: whatever stores a state (the answer to the operation, a notification or
// a comparison) records in the same transaction, once, the operation that caused it.
// So no change lacks its entry, even if nobody ever learns the answer.
func (s *Service) RecordEffect(ctx context.Context, before, after subscription.Subscription) error {
	if err := s.itemsReleased(ctx, before, after); err != nil {
		return err
	}
	op, err := s.store.pending(ctx, after)
	none := errors.Is(err, errNoOperation)
	if err != nil && !none {
		return err
	}
	// Who asks again for the plan that waits makes the change in place of it.
	if !none && op.shows(after) && s.deps.Clock.Now().Sub(op.createdAt) <= attributable {
		if op.Kind != opChange {
			err = s.recordWaited(ctx, before, after, false)
		}
		return errors.Join(err, s.record(ctx, op, after))
	}
	return s.recordWaited(ctx, before, after, none)
}

// shows reports whether a state has what the operation asked for, and the state
// before had not.
func (op operation) shows(after subscription.Subscription) bool {
	before := op.before
	switch op.Kind {
	case opCancel:
		return !before.Ending() && after.Ending()
	case opCancelNow:
		return !before.Status.Over() && after.Status == subscription.Canceled
	case opResume:
		return before.Ending() && !after.Ending() && !after.Status.Over()
	case opChange:
		made := before.PlanID != op.PlanID && after.PlanID == op.PlanID
		if op.seatsOnly() {
			made = before.Quantity != op.Quantity && after.Quantity == op.Quantity
		}
		return made || op.waits(after)
	case opDrop:
		return before.Pending != nil && after.Pending == nil && after.PlanID == before.PlanID && after.Quantity == before.Quantity
	case opQuantity:
		return before.Quantity != op.Quantity && after.Quantity == op.Quantity
	default:
		return false
	}
}

// waits reports whether a state has the change that the operation asked for, but as one
// that waits.
func (op operation) waits(after subscription.Subscription) bool {
	return after.Pending != nil && after.Pending.PlanID == op.PlanID &&
		(after.PlanID != op.PlanID || op.seatsOnly() && after.Quantity != op.Quantity)
}

// seatsOnly reports whether a change keeps the plan and changes the number of seats.
func (op operation) seatsOnly() bool { return op.Kind == opChange && op.before.PlanID == op.PlanID }

// recordWaited adds the end of a change that waited: it was made, in the name of who
// asked for it, or it lapsed. One that an operation ended is recorded as that.
func (s *Service) recordWaited(ctx context.Context, before, after subscription.Subscription, lapsed bool) error {
	switch waited := before.Pending; {
	case waited == nil || after.Pending != nil:
		return nil
	case after.PlanID == waited.PlanID && (before.PlanID != after.PlanID || before.Quantity != after.Quantity):
		by, departures, err := s.store.lastChange(ctx, after)
		if err != nil {
			return err
		}
		if err := s.deps.Subscriptions.SeatsFollowed(ctx, after, departures); err != nil {
			return err
		}
		action := "subscription.plan_changed"
		if before.PlanID == after.PlanID {
			action = "subscription.quantity_changed"
		}
		return s.deps.Audit.Record(by.In(ctx), before.ChangeEntry(action, after))
	case lapsed && !after.Status.Over():
		return s.deps.Audit.Record(ctx, before.ChangeEntry("subscription.plan_change_lapsed", after))
	default:
		return nil
	}
}

// record stores, once, what the provider does not know of an operation: the reason,
// and who asked for it.
func (s *Service) record(ctx context.Context, op operation, after subscription.Subscription) error {
	now := s.deps.Clock.Now()
	first, err := s.store.markRecorded(ctx, op, now)
	if err != nil || !first {
		return err
	}
	// A cancellation without a reason keeps the one that was given before.
	if op.Kind == opResume || op.Reason != nil {
		if err := s.deps.Subscriptions.SetReason(ctx, op.before, op.Reason); err != nil {
			return err
		}
	}
	if !op.waits(after) { // a change that waits bills the seats of those who left until it is made
		if err := s.deps.Subscriptions.SeatsFollowed(ctx, op.before, op.Departures); err != nil {
			return err
		}
	}
	return s.deps.Audit.Record(op.by.In(ctx), op.entry(after))
}

// entry returns the operation's entry of the audit trail.
func (op operation) entry(after subscription.Subscription) audit.Entry {
	switch op.Kind {
	case opCancel, opCancelNow:
		return op.before.CancelEntry(after, op.Kind == opCancelNow, op.Reason)
	case opResume:
		return op.before.ChangeEntry("subscription.resumed", after)
	case opChange:
		if op.waits(after) {
			return op.before.ChangeEntry("subscription.plan_change_waits", after)
		}
		if op.seatsOnly() {
			return op.before.ChangeEntry("subscription.quantity_changed", after)
		}
		return op.before.ChangeEntry("subscription.plan_changed", after)
	case opDrop:
		return op.before.ChangeEntry("subscription.plan_change_dropped", after)
	case opMetered:
		return op.before.ChangeEntry("subscription.metered_prices_changed", after)
	default:
		return op.before.ChangeEntry("subscription.quantity_changed", after)
	}
}
