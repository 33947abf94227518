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

// rejection is a figure that the provider permanently rejected.
type rejection struct {
	usage.Figure
	reason string
}

// rejectUnconfirmed rejects figures whose report was sent but never confirmed, and is so old that
// the provider has forgotten their IDs. These figures may or may not have been counted. If they
// were reported again, they could be counted twice; if they were dropped, they could be lost. The
// provider only shows sums, so an operator has to compare the sums and decide.
func rejectUnconfirmed(figures []usage.Figure, tried time.Time) []rejection {
	rejected := make([]rejection, len(figures))
	for i, f := range figures {
		rejected[i] = rejection{Figure: f, reason: "it may have been counted at " + tried.UTC().Format(time.RFC3339) + ", reported, but the response was not recorded"}
	}
	return rejected
}

// RejectedReport is a usage report that the payment provider rejected.
type RejectedReport struct {
	ID         uuid.UUID // the provider's identifier: the ID of the event until the report is retried
	TenantID   uuid.UUID
	MeterCode  string
	Quantity   money.Quantity // in the unit of the meter
	RecordedAt time.Time
	Reason     string // in English
	RejectedAt time.Time
}

// Rejections lists the rejected reports until an operator decides about them.
type Rejections struct {
	store store
	queue *Queue
	clock clock.Clock
	audit Audit
}

// NewRejections returns Rejections. Decisions are recorded in the audit trail a.
func NewRejections(db *sqldb.DB, c clock.Clock, a Audit) *Rejections {
	return &Rejections{store: store{db: db}, queue: NewQueue(db, nil), clock: c, audit: a}
}

// ForEach calls yield for every rejected report, earliest first. It stops at the first error of
// yield and returns it. yield can retry or discard the report.
func (r *Rejections) ForEach(ctx context.Context, yield func(RejectedReport) error) error {
	var last RejectedReport
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

// Retry queues a rejected figure again under a new ID, because the provider ignores an ID that it
// knows, and because the time in the ID locates the row of the figure (see findReported). It
// returns ErrNotRejected if no rejected report has the ID.
func (r *Rejections) Retry(ctx context.Context, id uuid.UUID) error {
	return r.decide(ctx, id, "usage.refusal_retried", func(ctx context.Context, f rejection) error {
		f.ID = sqldb.NewID()
		return r.queue.Add(ctx, []usage.Figure{f.Figure}, r.clock.Now())
	})
}

// Discard gives up a rejected figure, which is then never billed. It returns ErrNotRejected if
// no rejected report has the ID.
func (r *Rejections) Discard(ctx context.Context, id uuid.UUID) error {
	return r.decide(ctx, id, "usage.refusal_discarded", func(context.Context, rejection) error { return nil })
}

// decide removes a rejected report from the list, runs carryOut, and records the action in the
// audit trail.
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
