package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// How an operation ended.
const (
	stateDone      = "done"
	stateFailed    = "failed"
	stateAbandoned = "abandoned"
)

// pending returns the pending operation on a subscription, else nil.
func (s store) pending(ctx context.Context, sub Subscription) (*operation, error) {
	row, err := s.q(ctx).PendingOperation(ctx, subscriptionsql.PendingOperationParams{
		TenantID: sub.TenantID, SubscriptionID: sub.ID,
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	op := operation{id: row.ID, before: sub, leasedUntil: row.LeasedUntil, createdAt: row.CreatedAt}
	if row.Origin != nil { // those from before there was one have none
		var from origin
		if err := json.Unmarshal(row.Origin, &from); err != nil {
			return nil, err
		}
		op.from(from)
	}
	return &op, json.Unmarshal(row.Request, &op.request)
}

// insertOperation stores an operation, leased to the caller.
func (s store) insertOperation(ctx context.Context, op operation, now time.Time) error {
	text, err := json.Marshal(op.request)
	if err != nil {
		return err
	}
	from, err := json.Marshal(op.origin())
	if err != nil {
		return err
	}
	return s.q(ctx).InsertOperation(ctx, subscriptionsql.InsertOperationParams{
		ID: op.id, TenantID: op.before.TenantID, SubscriptionID: op.before.ID, Request: text, Origin: from,
		LeasedUntil: now.Add(operationLease), CreatedAt: now,
	})
}

// lease takes over an operation that nobody works on; false when somebody does.
func (s store) lease(ctx context.Context, op operation, now time.Time) (bool, error) {
	n, err := s.q(ctx).LeaseOperation(ctx, subscriptionsql.LeaseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, Until: now.Add(operationLease), Now: now, FreeAt: now,
	})
	return n == 1, err
}

// release leaves an operation pending, with nobody working on it.
func (s store) release(ctx context.Context, op operation, now time.Time) error {
	return s.q(ctx).ReleaseOperation(ctx, subscriptionsql.ReleaseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, LeasedUntil: now,
	})
}

// closeOperation ends an operation; false when it had ended before.
func (s store) closeOperation(ctx context.Context, op operation, state string, now time.Time) (bool, error) {
	n, err := s.q(ctx).CloseOperation(ctx, subscriptionsql.CloseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, State: state, UpdatedAt: now,
	})
	return n == 1, err
}

// markRecorded notes that an operation is in the trail; false when it was before.
func (s store) markRecorded(ctx context.Context, op operation, now time.Time) (bool, error) {
	n, err := s.q(ctx).RecordOperation(ctx, subscriptionsql.RecordOperationParams{
		TenantID: op.before.TenantID, ID: op.id, RecordedAt: &now,
	})
	return n == 1, err
}

func (s store) setReason(ctx context.Context, sub Subscription, reason *string, now time.Time) error {
	return s.q(ctx).SetCancellationReason(ctx, subscriptionsql.SetCancellationReasonParams{
		TenantID: sub.TenantID, ID: sub.ID, CancellationReason: reason, UpdatedAt: now,
	})
}

// ofTenant returns a subscription of a tenant, else nil.
func (s store) ofTenant(ctx context.Context, tenantID, id uuid.UUID) (*Subscription, error) {
	return toSubscription(s.q(ctx).SubscriptionOfTenant(ctx, subscriptionsql.SubscriptionOfTenantParams{TenantID: tenantID, ID: id}))
}

// keepPreview notes from when a change was last shown to be counted, and forgets
// the tenant's older ones.
func (s store) keepPreview(ctx context.Context, sub Subscription, t target, now time.Time) error {
	if err := s.q(ctx).PruneTenantPreviews(ctx, subscriptionsql.PruneTenantPreviewsParams{TenantID: sub.TenantID, ExpiresAt: now}); err != nil {
		return err
	}
	return s.q(ctx).KeepPreview(ctx, subscriptionsql.KeepPreviewParams{
		TenantID: sub.TenantID, PlanID: t.plan.ID, Quantity: t.quantity, Base: base(sub),
		ProrationDate: t.date, ExpiresAt: now.Add(previewLife),
	})
}

// previewed returns from when a change was shown to be counted; false when it was
// not, or too long ago, or the subscription is another by now.
func (s store) previewed(ctx context.Context, sub Subscription, t target, now time.Time) (time.Time, bool, error) {
	date, err := s.q(ctx).Preview(ctx, subscriptionsql.PreviewParams{
		TenantID: sub.TenantID, PlanID: t.plan.ID, Quantity: t.quantity, Base: base(sub), Now: now,
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return time.Time{}, false, nil
	}
	return date, err == nil, err
}
