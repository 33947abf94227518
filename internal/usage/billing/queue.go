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

// Queue keeps figures until the Reporter has reported them.
//
// Invariant: a row of usage_reports has the figures of the billable events of one
// transaction and is committed with these events, so that neither exists without the
// other, whatever the order of ids or commits. The reporter notes in the row how many
// figures it has reported and deletes the row after the last. One row for all events of
// a transaction keeps recording fast: it costs one insert for up to a few hundred
// events, and none where nothing is billable.
type Queue struct {
	store store
	lease clock.Clock
}

// NewQueue makes a Queue. lease is the machine's clock, by which operations on subscriptions
// are leased; without one, the queue also takes figures of a tenant whose usage is being settled.
func NewQueue(db *sqldb.DB, lease clock.Clock) *Queue { return &Queue{store{db: db}, lease} }

// Add stores figures in the transaction of ctx. It returns usage.ErrBusy, so that nothing is
// stored, while the usage of one of the tenants is being settled.
//
// Invariant: usage that is acknowledged before a subscription ends is on its final invoice.
// The operation that ends it is committed before Settle runs. So a transaction either finds
// the operation here, or has begun before it; Settle waits for a second in between.
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

// figureSize is the length of one encoded figure: three ids, the quantity in
// millionths and the time in microseconds.
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
