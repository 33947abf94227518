package usage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// bill notes in the transaction that stores events which of them the payment
// provider is to be told of.
//
// An event is billed when its meter is billable as it is stored: with the link of
// the first price every later recording is, also one that waits for the meter
// while it is linked, and with the link's removal none. What was recorded before
// stays as it was: nobody who used something for nothing is billed for it later.
//
// What holds: a row of usage_reports has the billable events of one transaction
// and is committed with them, so that there is neither one without the other;
// no order of ids or of commits matters. The reporter deletes a row when the
// provider has taken all of its events, and notes on the way how many it has
// taken. One row for all events of a transaction costs recording one insert for
// up to a few hundred of them, and nothing where nothing is billable.
type bill struct{ store store }

// reported is one figure to be told to the provider.
type reported struct {
	id       uuid.UUID // of the event: what makes the report count once
	tenantID uuid.UUID
	meterID  uuid.UUID
	quantity money.Quantity
	at       time.Time
}

// billedByEvent tells whether the provider is told of each event of a stream. It
// knows no maximum: of those meters it is told once a period is over.
func (s *stream) billedByEvent() bool { return s.billable && s.meter.Aggregation != Max }

// reported is what the provider is told of a stored entry.
func (s *stream) reported(e *entry) reported {
	r := reported{id: e.id, tenantID: s.key.tenantID, meterID: s.key.meterID, quantity: e.Quantity, at: e.at}
	if s.meter.Aggregation == Count {
		r.quantity = money.One
	}
	return r
}

func (b bill) add(ctx context.Context, events []reported, now time.Time) error {
	if len(events) == 0 {
		return nil
	}
	err := b.store.q(ctx).InsertReport(ctx, usagesql.InsertReportParams{ID: sqldb.NewID(), Events: encodeReported(events), CreatedAt: now})
	if err != nil {
		return fmt.Errorf("usage: insert report: %w", err)
	}
	return nil
}

// reportedSize is the length of one encoded figure: three ids, the quantity in
// millionths and the time in microseconds.
const reportedSize = 3*16 + 2*8

func encodeReported(events []reported) []byte {
	out := make([]byte, 0, reportedSize*len(events))
	for _, e := range events {
		out = append(out, e.id[:]...)
		out = append(out, e.tenantID[:]...)
		out = append(out, e.meterID[:]...)
		out = binary.BigEndian.AppendUint64(out, uint64(e.quantity))
		out = binary.BigEndian.AppendUint64(out, uint64(e.at.UnixMicro()))
	}
	return out
}

var errReportBroken = errors.New("usage: a report cannot be read")

func decodeReported(text []byte) ([]reported, error) {
	if len(text)%reportedSize != 0 {
		return nil, errReportBroken
	}
	events := make([]reported, 0, len(text)/reportedSize)
	for ; len(text) > 0; text = text[reportedSize:] {
		var e reported
		copy(e.id[:], text)
		copy(e.tenantID[:], text[16:])
		copy(e.meterID[:], text[32:])
		e.quantity = money.Quantity(binary.BigEndian.Uint64(text[48:]))
		e.at = time.UnixMicro(int64(binary.BigEndian.Uint64(text[56:reportedSize]))).UTC()
		events = append(events, e)
	}
	return events, nil
}
