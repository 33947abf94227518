package operation

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/operation/operationsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *operationsql.Queries {
	return operationsql.New(s.db.Conn(ctx))
}

// How an operation ended.
const (
	stateDone      = "done"
	stateFailed    = "failed"
	stateAbandoned = "abandoned"
)

// pending returns the pending operation on a subscription, else errNoOperation.
func (s store) pending(ctx context.Context, sub subscription.Subscription) (operation, error) {
	row, err := s.q(ctx).PendingOperation(ctx, operationsql.PendingOperationParams{
		TenantID: sub.TenantID, SubscriptionID: sub.ID,
	})
	if err != nil {
		return operation{}, sqldb.WrapAbsent(err, "read pending operation", errNoOperation)
	}
	return restored(row, sub)
}

// lastAsked returns the newest operation that somebody asked for, and its state;
// errNoOperation where there is none.
func (s store) lastAsked(ctx context.Context, sub subscription.Subscription) (operation, string, error) {
	row, err := s.q(ctx).LastAskedOperation(ctx, operationsql.LastAskedOperationParams{TenantID: sub.TenantID, SubscriptionID: sub.ID})
	if err != nil {
		return operation{}, "", sqldb.WrapAbsent(err, "read last operation", errNoOperation)
	}
	op, err := restored(row, sub)
	return op, row.State, err
}

// restored returns a stored operation on a subscription.
func restored(row operationsql.PSPOperation, sub subscription.Subscription) (operation, error) {
	op := operation{id: row.ID, before: sub, leasedUntil: row.LeasedUntil, createdAt: row.CreatedAt}
	if row.Origin != nil { // operations that are older than the column have none
		var from origin
		if err := json.Unmarshal(row.Origin, &from); err != nil {
			return operation{}, sqldb.Wrap(err, "read origin of operation")
		}
		op.restore(from)
	}
	return op, sqldb.Wrap(json.Unmarshal(row.Request, &op.instruction), "read instruction of operation")
}

// lastChange returns who asked for the last change of plan whose effect was recorded, and
// the departures that it was prepared with; zero values without one.
func (s store) lastChange(ctx context.Context, sub subscription.Subscription) (by authz.Origin, departures int64, err error) {
	row, err := s.q(ctx).LastChange(ctx, operationsql.LastChangeParams{TenantID: sub.TenantID, SubscriptionID: sub.ID})
	if err != nil {
		return by, 0, sqldb.WrapAbsent(err, "read the last change", nil)
	}
	var in instruction
	if err := json.Unmarshal(row.Request, &in); err != nil {
		return by, 0, sqldb.Wrap(err, "read instruction of operation")
	}
	var from origin
	if row.Origin != nil { // operations that are older than the column have none
		err = json.Unmarshal(row.Origin, &from)
	}
	return from.By, in.Departures, sqldb.Wrap(err, "read origin of operation")
}

// insertOperation stores an operation, leased to the caller.
func (s store) insertOperation(ctx context.Context, op operation, leasedAt, now time.Time) error {
	text, err := json.Marshal(op.instruction)
	if err != nil {
		return err
	}
	from, err := json.Marshal(op.origin())
	if err != nil {
		return err
	}
	err = s.q(ctx).InsertOperation(ctx, operationsql.InsertOperationParams{
		ID: op.id, TenantID: op.before.TenantID, SubscriptionID: op.before.ID, Request: text, Origin: from,
		LeasedUntil: leasedAt.Add(operationLease), CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert operation")
}

// lease takes over a pending operation and reports whether nobody else was working
// on it.
func (s store) lease(ctx context.Context, op operation, leasedAt, now time.Time) (bool, error) {
	n, err := s.q(ctx).LeaseOperation(ctx, operationsql.LeaseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, Until: leasedAt.Add(operationLease), Now: now, FreeAt: leasedAt,
	})
	return n == 1, sqldb.Wrap(err, "lease operation")
}

// release leaves an operation pending, with nobody working on it.
func (s store) release(ctx context.Context, op operation, freeAt, now time.Time) error {
	err := s.q(ctx).ReleaseOperation(ctx, operationsql.ReleaseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, LeasedUntil: freeAt, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "release operation")
}

// closeOperation ends an operation and reports whether it was still pending.
func (s store) closeOperation(ctx context.Context, op operation, state string, now time.Time) (bool, error) {
	n, err := s.q(ctx).CloseOperation(ctx, operationsql.CloseOperationParams{
		TenantID: op.before.TenantID, ID: op.id, State: state, UpdatedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "close operation")
}

// acknowledge notes that a repetition of an abandoned operation was answered, and reports
// whether none was before.
func (s store) acknowledge(ctx context.Context, op operation, now time.Time) (bool, error) {
	n, err := s.q(ctx).AcknowledgeOperation(ctx, operationsql.AcknowledgeOperationParams{
		TenantID: op.before.TenantID, ID: op.id, UpdatedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "acknowledge operation")
}

// markRecorded notes that an operation is in the audit trail and reports whether it
// was not before.
func (s store) markRecorded(ctx context.Context, op operation, now time.Time) (bool, error) {
	n, err := s.q(ctx).RecordOperation(ctx, operationsql.RecordOperationParams{
		TenantID: op.before.TenantID, ID: op.id, RecordedAt: &now,
	})
	return n == 1, sqldb.Wrap(err, "mark operation as recorded")
}

// keepItems notes what waits for the next invoice before an operation.
func (s store) keepItems(ctx context.Context, op operation, ids []string, now time.Time) error {
	for _, id := range ids {
		err := s.q(ctx).KeepItem(ctx, operationsql.KeepItemParams{
			TenantID: op.before.TenantID, SubscriptionID: op.before.ID, OperationID: op.id, PSPItemID: id, CreatedAt: now,
		})
		if err != nil {
			return sqldb.Wrap(err, "keep item")
		}
	}
	return nil
}

// keptItems returns the notes of a subscription.
func (s store) keptItems(ctx context.Context, sub subscription.Subscription) ([]string, error) {
	ids, err := s.q(ctx).KeptItems(ctx, operationsql.KeptItemsParams{TenantID: sub.TenantID, SubscriptionID: sub.ID})
	return ids, sqldb.Wrap(err, "list kept items")
}

// forgetItems deletes notes, but not those of an operation that is under way.
func (s store) forgetItems(ctx context.Context, sub subscription.Subscription, ids []string) error {
	for _, id := range ids {
		err := s.q(ctx).ForgetItem(ctx, operationsql.ForgetItemParams{TenantID: sub.TenantID, SubscriptionID: sub.ID, PSPItemID: id})
		if err != nil {
			return sqldb.Wrap(err, "forget item")
		}
	}
	return nil
}

// keepPreview stores what a tenant is shown of a change, and deletes the tenant's
// previews that have expired.
func (s store) keepPreview(ctx context.Context, tenantID uuid.UUID, sel subscription.Selection, asked int64, p Preview, now time.Time) error {
	err := s.q(ctx).PruneTenantPreviews(ctx, operationsql.PruneTenantPreviewsParams{TenantID: tenantID, ExpiresAt: now})
	if err != nil {
		return sqldb.Wrap(err, "delete expired previews")
	}
	err = s.q(ctx).KeepPreview(ctx, operationsql.KeepPreviewParams{
		TenantID: tenantID, PlanID: sel.Plan.ID, Asked: asked, Quantity: sel.Quantity, ProrationDate: p.At,
		CreditCents: p.Credit, ChargeCents: p.Charge, PendingCents: p.Pending, UsageCents: p.Usage, ShownAt: now, ExpiresAt: now.Add(previewLife),
	})
	return sqldb.Wrap(err, "keep preview")
}

// lastPreview returns the figures, and the moment that they were counted from, of the
// last preview of a change; errNoPreview when there is none that has not expired.
func (s store) lastPreview(ctx context.Context, tenantID uuid.UUID, sel subscription.Selection, asked int64, now time.Time) (Preview, error) {
	row, err := s.q(ctx).LastPreview(ctx, operationsql.LastPreviewParams{
		TenantID: tenantID, PlanID: sel.Plan.ID, Asked: asked, Quantity: sel.Quantity, Now: now,
	})
	p := Preview{At: row.ProrationDate, Credit: row.CreditCents, Charge: row.ChargeCents, Pending: row.PendingCents, Usage: row.UsageCents}
	return p, sqldb.WrapAbsent(err, "read preview", errNoPreview)
}

// forgetPreviews deletes what a tenant was shown of changing to a plan.
func (s store) forgetPreviews(ctx context.Context, tenantID, planID uuid.UUID) error {
	err := s.q(ctx).ForgetPreviews(ctx, operationsql.ForgetPreviewsParams{TenantID: tenantID, PlanID: planID})
	return sqldb.Wrap(err, "delete previews")
}
