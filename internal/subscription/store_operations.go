package subscription

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// statePending is the state of an operation whose outcome is unknown.
const statePending = "pending"

// The states of an operation that has ended.
const (
	stateDone      = "done"
	stateFailed    = "failed"
	stateAbandoned = "abandoned"
)

// pendingOperation returns the pending operation on a subscription. Without one, isPending is false.
func (s store) pendingOperation(ctx context.Context, sub Subscription) (op operation, isPending bool, _ error) {
	row, err := s.q(ctx).PendingOperation(ctx, subscriptionsql.PendingOperationParams{
		TenantID: sub.TenantID, SubscriptionID: sub.ID,
	})
	if err != nil {
		return operation{}, false, sqldb.WrapAbsent(err, "read pending operation", nil)
	}
	op, err = toOperation(row, sub)
	return op, err == nil, err
}

// lastRequestedOperation returns the newest operation that a user requested, and its state. It
// returns errNoOperation if there is none.
func (s store) lastRequestedOperation(ctx context.Context, sub Subscription) (operation, string, error) {
	row, err := s.q(ctx).LastRequestedOperation(ctx, subscriptionsql.LastRequestedOperationParams{TenantID: sub.TenantID, SubscriptionID: sub.ID})
	if err != nil {
		return operation{}, "", sqldb.WrapAbsent(err, "read last operation", errNoOperation)
	}
	op, err := toOperation(row, sub)
	return op, row.State, err
}

// operationByID returns an operation on a subscription and its state, or errNoOperation.
func (s store) operationByID(ctx context.Context, sub Subscription, id uuid.UUID) (operation, string, error) {
	row, err := s.q(ctx).OperationByID(ctx, subscriptionsql.OperationByIDParams{TenantID: sub.TenantID, ID: id})
	if err != nil {
		return operation{}, "", sqldb.WrapAbsent(err, "read operation", errNoOperation)
	}
	op, err := toOperation(row, sub)
	return op, row.State, err
}

// toOperation converts a stored operation on a subscription.
func toOperation(row subscriptionsql.PSPOperation, sub Subscription) (operation, error) {
	op := operation{id: row.ID, before: sub, leasedUntil: row.LeasedUntil, createdAt: row.CreatedAt}
	if row.Origin != nil { // nil for operations older than the column
		var from origin
		if err := json.Unmarshal(row.Origin, &from); err != nil {
			return operation{}, sqldb.Wrap(err, "read origin of operation")
		}
		op.setOrigin(from)
	}
	return op, sqldb.Wrap(json.Unmarshal(row.Request, &op.instruction), "read instruction of operation")
}

// lastChange returns the last recorded operation of a kind: the user who requested it, and the
// number of departures that it accounted for. Both are zero if no operation is recorded.
func (s store) lastChange(ctx context.Context, sub Subscription, kind string) (by authz.Origin, departures int64, err error) {
	row, err := s.q(ctx).LastChange(ctx, subscriptionsql.LastChangeParams{TenantID: sub.TenantID, SubscriptionID: sub.ID, Kind: kind})
	if err != nil {
		return by, 0, sqldb.WrapAbsent(err, "read the last change", nil)
	}
	var in instruction
	if err := json.Unmarshal(row.Request, &in); err != nil {
		return by, 0, sqldb.Wrap(err, "read instruction of operation")
	}
	var from origin
	if row.Origin != nil { // nil for operations older than the column
		err = json.Unmarshal(row.Origin, &from)
	}
	return from.By, in.Departures, sqldb.Wrap(err, "read origin of operation")
}

// insertOperation stores an operation and leases it to the caller.
func (s store) insertOperation(ctx context.Context, op operation, leasedAt, now time.Time) error {
	text, err := json.Marshal(op.instruction)
	if err != nil {
		return err
	}
	from, err := json.Marshal(op.origin())
	if err != nil {
		return err
	}
	err = s.q(ctx).InsertOperation(ctx, subscriptionsql.InsertOperationParams{
		ID: op.id, TenantID: op.before.TenantID, SubscriptionID: op.before.ID, Request: text, Origin: from,
		LeasedUntil: leasedAt.Add(operationLease), CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert operation")
}

// lease takes over a pending operation. It reports whether the operation was free.
func (s store) lease(ctx context.Context, op operation, leasedAt, now time.Time) (bool, error) {
	n, err := s.q(ctx).LeaseOperation(ctx, subscriptionsql.LeaseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, Until: leasedAt.Add(operationLease), Now: now, FreeAt: leasedAt,
	})
	return n == 1, sqldb.Wrap(err, "lease operation")
}

// release leaves an operation pending and free for the next caller.
func (s store) release(ctx context.Context, op operation, freeAt, now time.Time) error {
	err := s.q(ctx).ReleaseOperation(ctx, subscriptionsql.ReleaseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, LeasedUntil: freeAt, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "release operation")
}

// closeOperation ends an operation. It reports whether the operation was still pending.
func (s store) closeOperation(ctx context.Context, op operation, state string, now time.Time) (bool, error) {
	n, err := s.q(ctx).CloseOperation(ctx, subscriptionsql.CloseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, State: state, UpdatedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "close operation")
}

// acknowledge records that a retry of an abandoned operation was answered. It reports whether this was
// the first such retry.
func (s store) acknowledge(ctx context.Context, op operation, now time.Time) (bool, error) {
	n, err := s.q(ctx).AcknowledgeOperation(ctx, subscriptionsql.AcknowledgeOperationParams{
		TenantID: op.before.TenantID, ID: op.id, UpdatedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "acknowledge operation")
}

// markRecorded records that an operation is in the audit trail. It reports false if this was recorded
// before.
func (s store) markRecorded(ctx context.Context, op operation, now time.Time) (bool, error) {
	n, err := s.q(ctx).RecordOperation(ctx, subscriptionsql.RecordOperationParams{
		TenantID: op.before.TenantID, ID: op.id, RecordedAt: &now,
	})
	return n == 1, sqldb.Wrap(err, "mark operation as recorded")
}

// storeItems records the items that are pending for the next invoice before an operation.
func (s store) storeItems(ctx context.Context, op operation, ids []string, now time.Time) error {
	for _, id := range ids {
		err := s.q(ctx).StoreItem(ctx, subscriptionsql.StoreItemParams{
			TenantID: op.before.TenantID, SubscriptionID: op.before.ID, OperationID: op.id, PSPItemID: id, CreatedAt: now,
		})
		if err != nil {
			return sqldb.Wrap(err, "store item")
		}
	}
	return nil
}

// storedItems returns the recorded items of a subscription.
func (s store) storedItems(ctx context.Context, sub Subscription) ([]string, error) {
	ids, err := s.q(ctx).StoredItems(ctx, subscriptionsql.StoredItemsParams{TenantID: sub.TenantID, SubscriptionID: sub.ID})
	return ids, sqldb.Wrap(err, "list stored items")
}

// deleteItems deletes recorded items, except the items of an operation in progress.
func (s store) deleteItems(ctx context.Context, sub Subscription, ids []string) error {
	for _, id := range ids {
		err := s.q(ctx).DeleteItem(ctx, subscriptionsql.DeleteItemParams{TenantID: sub.TenantID, SubscriptionID: sub.ID, PSPItemID: id})
		if err != nil {
			return sqldb.Wrap(err, "delete item")
		}
	}
	return nil
}

// upsertPreview stores a preview that is shown to a tenant. It also deletes the tenant's expired
// previews.
func (s store) upsertPreview(ctx context.Context, m move, requested int64, p preview, now time.Time) error {
	err := s.q(ctx).DeleteExpiredPreviews(ctx, subscriptionsql.DeleteExpiredPreviewsParams{TenantID: m.sub.TenantID, ExpiresAt: now})
	if err != nil {
		return sqldb.Wrap(err, "delete expired previews")
	}
	err = s.q(ctx).UpsertPreview(ctx, subscriptionsql.UpsertPreviewParams{
		TenantID: m.sub.TenantID, PlanID: m.plan.ID, Asked: requested, Discount: m.discountKey(), Actor: authz.OriginOf(ctx).Actor(), Quantity: m.quantity, ProrationDate: p.at,
		CreditCents: p.credit, ChargeCents: p.charge, PendingCents: p.pending, UsageCents: p.usage, ShownAt: now, ExpiresAt: now.Add(previewLife),
	})
	return sqldb.Wrap(err, "store preview")
}

// lastPreview returns the amounts of the caller's last preview of a change, and the time from which
// the amounts are calculated. It returns errNoPreview if the caller has no preview or if the
// preview has expired.
func (s store) lastPreview(ctx context.Context, m move, requested int64, now time.Time) (preview, error) {
	row, err := s.q(ctx).LastPreview(ctx, subscriptionsql.LastPreviewParams{
		TenantID: m.sub.TenantID, PlanID: m.plan.ID, Asked: requested, Quantity: m.quantity, Discount: m.discountKey(), Actor: authz.OriginOf(ctx).Actor(), Now: now,
	})
	p := preview{at: row.ProrationDate, credit: row.CreditCents, charge: row.ChargeCents, pending: row.PendingCents, usage: row.UsageCents}
	return p, sqldb.WrapAbsent(err, "read preview", errNoPreview)
}

// deletePreviews deletes the caller's previews of the change that an operation makes.
func (s store) deletePreviews(ctx context.Context, op operation) error {
	err := s.q(ctx).DeletePreviews(ctx, subscriptionsql.DeletePreviewsParams{TenantID: op.before.TenantID, PlanID: op.PlanID, Actor: op.by.Actor()})
	return sqldb.Wrap(err, "delete previews")
}
