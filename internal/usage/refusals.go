package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// refusal is a figure that was told to the provider in vain.
type refusal struct {
	reported
	reason string
}

func (f refusal) row(now time.Time) usagesql.InsertRefusalParams {
	return usagesql.InsertRefusalParams{
		ID: f.id, TenantID: f.tenantID, MeterID: f.meterID, Quantity: int64(f.quantity), RecordedAt: f.at,
		Reason: f.reason, RefusedAt: now,
	}
}

// unconfirmed are figures that the service began to tell at a time and stayed away
// from for longer than the provider knows their ids: each may have been counted or
// not. Telling them again could count them twice, leaving them could lose them, and
// the provider shows sums only; so somebody who can compare them decides.
func unconfirmed(events []reported, tried time.Time) []refusal {
	refused := make([]refusal, len(events))
	for i, e := range events {
		refused[i] = refusal{e, "it may have been counted at " + tried.UTC().Format(time.RFC3339) + ", when it was told and no answer was noted"}
	}
	return refused
}

// Refused counts the figures that Refusals has.
func (r *Reporter) Refused(ctx context.Context) (int64, error) {
	n, err := r.store.q(ctx).CountRefusals(ctx)
	if err != nil {
		return 0, fmt.Errorf("usage: count refusals: %w", err)
	}
	return n, nil
}

// Refusal is billable usage that the payment provider was told of in vain.
type Refusal struct {
	ID         uuid.UUID // of the event, and the provider's identifier
	TenantID   uuid.UUID
	MeterCode  string
	Quantity   money.Quantity
	RecordedAt time.Time
	Reason     string
	RefusedAt  time.Time
}

// ErrNotRefused is returned for an id that no refusal has.
var ErrNotRefused = errors.New("usage: no such refused usage")

// Refusals keeps what the provider refused until somebody decides about it.
type Refusals struct {
	store store
	clock clock.Clock
	audit Audit
}

// NewRefusals makes Refusals; what is decided is noted in the trail.
func NewRefusals(db *sqldb.DB, c clock.Clock, a Audit) *Refusals {
	return &Refusals{store: store{db: db}, clock: c, audit: a}
}

// Each hands every refusal to tell, the earliest first. It may be decided about
// there.
func (r *Refusals) Each(ctx context.Context, tell func(Refusal) error) error {
	var after usagesql.RefusalsParams
	after.MaxRefusals = 100
	for {
		rows, err := r.store.q(ctx).Refusals(ctx, after)
		if err != nil {
			return fmt.Errorf("usage: refusals: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, row := range rows {
			f := row.UsageRefusal
			after.After, after.AfterID = f.RefusedAt, f.ID
			err := tell(Refusal{
				ID: f.ID, TenantID: f.TenantID, MeterCode: row.Code, Quantity: money.Quantity(f.Quantity),
				RecordedAt: f.RecordedAt, Reason: f.Reason, RefusedAt: f.RefusedAt,
			})
			if err != nil {
				return err
			}
		}
	}
}

// Retry has a figure told to the provider once more, soon; ErrNotRefused if it is
// not refused.
func (r *Refusals) Retry(ctx context.Context, id uuid.UUID) error {
	return r.take(ctx, id, "usage.refusal_retried", func(ctx context.Context, e reported) error {
		return bill{r.store}.add(ctx, []reported{e}, r.clock.Now())
	})
}

// Discard gives a figure up: it is not billed. ErrNotRefused if it is not refused.
func (r *Refusals) Discard(ctx context.Context, id uuid.UUID) error {
	return r.take(ctx, id, "usage.refusal_discarded", func(context.Context, reported) error { return nil })
}

// take removes a refusal, does with its figure what was decided, and records that.
func (r *Refusals) take(ctx context.Context, id uuid.UUID, action string, decided func(context.Context, reported) error) error {
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		row, err := r.store.q(ctx).TakeRefusal(ctx, id)
		if errors.Is(err, sqldb.ErrNoRows) {
			return ErrNotRefused
		}
		if err != nil {
			return fmt.Errorf("usage: take refusal: %w", err)
		}
		err = decided(ctx, reported{
			id: row.ID, tenantID: row.TenantID, meterID: row.MeterID, quantity: money.Quantity(row.Quantity), at: row.RecordedAt,
		})
		if err != nil {
			return err
		}
		return r.audit.Record(ctx, audit.Entry{
			Action: action, TenantID: &row.TenantID, Resource: "usage_event", ResourceID: id.String(),
			Before: map[string]any{"meter_id": row.MeterID, "quantity": money.Quantity(row.Quantity), "reason": row.Reason},
		})
	})
}
