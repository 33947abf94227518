package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// rejection is a figure that the provider rejected for good.
type rejection struct {
	usage.Figure
	reason string
}

// rejectUnconfirmed rejects figures whose report was begun at a time and never confirmed, too
// long ago for the provider to know their ids still. Each may have been counted or not:
// reporting it again could count it twice, dropping it could lose it. The provider
// shows sums alone, so a person has to compare them and decide.
func rejectUnconfirmed(figures []usage.Figure, tried time.Time) []rejection {
	rejected := make([]rejection, len(figures))
	for i, f := range figures {
		rejected[i] = rejection{Figure: f, reason: "it may have been counted at " + tried.UTC().Format(time.RFC3339) + ", when it was reported and no answer was noted"}
	}
	return rejected
}

// Rejected is a report of billable usage that the payment provider rejected.
type Rejected struct {
	ID         uuid.UUID // the provider's identifier: that of the event, until it is reported again
	TenantID   uuid.UUID
	MeterCode  string
	Quantity   money.Quantity // in the unit of the meter
	RecordedAt time.Time
	Reason     string // in English
	RejectedAt time.Time
}

// Rejections keeps what the provider rejected until somebody decides about it.
type Rejections struct {
	store store
	queue *Queue
	clock clock.Clock
	audit Audit
}

// NewRejections makes Rejections; decisions are recorded in the audit trail a.
func NewRejections(db *sqldb.DB, c clock.Clock, a Audit) *Rejections {
	return &Rejections{store: store{db: db}, queue: NewQueue(db, nil), clock: c, audit: a}
}

// ForEach calls yield for every rejected report, the earliest first, until yield returns
// an error, which it returns. yield may retry or discard the report.
func (r *Rejections) ForEach(ctx context.Context, yield func(Rejected) error) error {
	var last Rejected
	for {
		page, err := r.store.rejectionsAfter(ctx, last, 100)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, one := range page {
			if err := yield(one); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

// Retry queues a rejected figure to be reported again soon, under a new id: the provider
// would ignore one that it knows, and the time in the id leads to the row that has the
// figure then (see told). It returns ErrNotRejected for an id that no rejected report has.
func (r *Rejections) Retry(ctx context.Context, id uuid.UUID) error {
	return r.decide(ctx, id, "usage.refusal_retried", func(ctx context.Context, f rejection) error {
		f.ID = sqldb.NewID()
		return r.queue.Add(ctx, []usage.Figure{f.Figure}, r.clock.Now())
	})
}

// Discard gives up a rejected figure: it is never billed. It returns ErrNotRejected for
// an id that no rejected report has.
func (r *Rejections) Discard(ctx context.Context, id uuid.UUID) error {
	return r.decide(ctx, id, "usage.refusal_discarded", func(context.Context, rejection) error { return nil })
}

// decide takes a rejected report off the list, carries out the decision about its figure and
// records the action in the audit trail.
func (r *Rejections) decide(ctx context.Context, id uuid.UUID, action string, carryOut func(context.Context, rejection) error) error {
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		taken, err := r.store.takeRejection(ctx, id, r.clock.Now())
		if err != nil {
			return err
		}
		if err := carryOut(ctx, taken); err != nil {
			return err
		}
		return r.audit.Record(ctx, audit.Entry{
			Action: action, TenantID: &taken.TenantID, Resource: "usage_event", ResourceID: id.String(),
			Before: map[string]any{"meter_id": taken.MeterID, "quantity": taken.Quantity, "reason": taken.reason},
		})
	})
}
