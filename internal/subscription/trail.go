package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
)

// attributable is for how long a new state is taken for the effect of a pending
// operation: as long as the provider remembers the idempotency key.
const attributable = 24 * time.Hour

// origin is what the audit trail needs of an operation whose effect is found later:
// the subscription as it was, and who asked.
type origin struct {
	Status            Status       `json:"status"`
	PlanID            uuid.UUID    `json:"plan_id"`
	Quantity          int64        `json:"quantity"`
	CancelAtPeriodEnd bool         `json:"cancel_at_period_end"`
	By                authz.Origin `json:"by"`
}

func (op operation) origin() origin {
	b := op.before
	return origin{b.Status, b.PlanID, b.Quantity, b.CancelAtPeriodEnd, op.by}
}

// restore sets what the operation was asked for on, and by whom.
func (op *operation) restore(o origin) {
	b := &op.before
	b.Status, b.PlanID, b.Quantity, b.CancelAtPeriodEnd, op.by = o.Status, o.PlanID, o.Quantity, o.CancelAtPeriodEnd, o.By
}

// recordEffect adds the entry of a pending operation to the audit trail if the state
// that is being stored shows its effect. The operation stays pending: a repetition is
// still the same write.
//
// Invariant: whatever stores a state (the answer to the operation, a notification or
// a comparison) records in the same transaction, once, the operation that caused it.
// So no change lacks its entry, even if nobody ever learns the answer.
func (s *Service) recordEffect(ctx context.Context, after Subscription) error {
	op, err := s.store.pending(ctx, after)
	if errors.Is(err, errNoOperation) {
		return nil
	}
	if err != nil || !op.shows(after) || s.deps.Clock.Now().Sub(op.createdAt) > attributable {
		return err
	}
	return s.record(ctx, op, after)
}

// shows reports whether a state has what the operation asked for, and the state
// before had not.
func (op operation) shows(after Subscription) bool {
	before := op.before
	switch op.Kind {
	case opCancel:
		return !before.CancelAtPeriodEnd && after.CancelAtPeriodEnd
	case opCancelNow:
		return !before.Status.Over() && after.Status == Canceled
	case opResume:
		return before.CancelAtPeriodEnd && !after.CancelAtPeriodEnd && !after.Status.Over()
	case opChange:
		return before.PlanID != op.PlanID && after.PlanID == op.PlanID
	case opQuantity:
		return before.Quantity != op.Quantity && after.Quantity == op.Quantity
	default:
		return false
	}
}

// record stores, once, what the provider does not know of an operation: the reason,
// and who asked for it.
func (s *Service) record(ctx context.Context, op operation, after Subscription) error {
	now := s.deps.Clock.Now()
	first, err := s.store.markRecorded(ctx, op, now)
	if err != nil || !first {
		return err
	}
	// A cancellation without a reason keeps the one that was given before.
	if op.Kind == opResume || op.Reason != nil {
		if err := s.store.setReason(ctx, op.before, op.Reason, now); err != nil {
			return err
		}
	}
	return s.deps.Audit.Record(op.by.In(ctx), op.entry(after))
}

// entry returns the operation's entry of the audit trail.
func (op operation) entry(after Subscription) audit.Entry {
	e := audit.Entry{
		TenantID: &op.before.TenantID, Resource: "subscription", ResourceID: op.before.ID.String(),
		Before: recorded(op.before), After: recorded(after),
	}
	switch op.Kind {
	case opCancel, opCancelNow:
		state := recorded(after)
		state["immediately"], state["reason"] = op.Kind == opCancelNow, op.Reason
		e.Action, e.After = "subscription.canceled", state
	case opResume:
		e.Action = "subscription.resumed"
	case opChange:
		e.Action = "subscription.plan_changed"
	case opQuantity:
		e.Action = "subscription.quantity_changed"
	}
	return e
}

func recorded(s Subscription) map[string]any {
	return map[string]any{
		"status": s.Status, "plan_id": s.PlanID, "quantity": s.Quantity, "cancel_at_period_end": s.CancelAtPeriodEnd,
	}
}
