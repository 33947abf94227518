package billing

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// Queue stores figures until the Reporter has reported them.
//
// Invariant: a row of usage_reports holds the figures of the billable events of one transaction and
// is committed together with these events. The reporter updates the number of reported figures in
// the row and deletes the row after the last figure. One row per transaction keeps recording fast:
// it costs one insert for up to a few hundred events, and nothing if no event is billable.
type Queue struct {
	store store
	lease clock.Clock
}

// NewQueue returns a Queue. lease is the machine's clock, which operations on subscriptions use for
// their leases. If it is nil, the queue also accepts figures of a tenant whose usage is being
// settled.
func NewQueue(db *sqldb.DB, lease clock.Clock) *Queue { return &Queue{store{db: db}, lease} }

// Add stores figures in the transaction of ctx. It returns usage.ErrBusy, so that nothing is
// stored, while the usage of one of the tenants is being settled.
//
// Invariant: usage that is acknowledged before a subscription ends is on its final invoice. The
// operation that ends the subscription is committed before Settle runs. A transaction that does not
// see the operation in Add began before that commit. Settle waits for a second, so that such
// transactions can end.
func (q *Queue) Add(ctx context.Context, figures []usage.Figure, now time.Time) error {
	if len(figures) == 0 {
		return nil
	}
	if q.lease != nil {
		settling, err := q.store.settlingTenants(ctx, q.lease.Now())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(figures, func(f usage.Figure) bool { return slices.Contains(settling, f.TenantID) }) {
			return usage.ErrBusy
		}
	}
	return q.store.insertReport(ctx, encode(figures), now)
}

// figureSize is the length of an encoded figure: three IDs, the quantity in millionths and the time
// in microseconds.
const figureSize = 3*16 + 2*8

func encode(figures []usage.Figure) []byte {
	out := make([]byte, 0, figureSize*len(figures))
	for _, f := range figures {
		out = append(out, f.ID[:]...)
		out = append(out, f.TenantID[:]...)
		out = append(out, f.MeterID[:]...)
		out = binary.BigEndian.AppendUint64(out, uint64(f.Quantity))
		out = binary.BigEndian.AppendUint64(out, uint64(f.At.UnixMicro()))
	}
	return out
}

func decode(text []byte) ([]usage.Figure, error) {
	if len(text)%figureSize != 0 {
		return nil, errReportBroken
	}
	figures := make([]usage.Figure, 0, len(text)/figureSize)
	for ; len(text) > 0; text = text[figureSize:] {
		var f usage.Figure
		copy(f.ID[:], text)
		copy(f.TenantID[:], text[16:])
		copy(f.MeterID[:], text[32:])
		f.Quantity = money.Quantity(binary.BigEndian.Uint64(text[48:]))
		f.At = time.UnixMicro(int64(binary.BigEndian.Uint64(text[56:figureSize]))).UTC()
		figures = append(figures, f)
	}
	return figures, nil
}
