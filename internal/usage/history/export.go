package history

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// exported is an event as an export has it.
type exported struct {
	id         uuid.UUID
	quantity   money.Quantity
	recordedAt time.Time
	key        *string
	metadata   sqldb.JSON
}

// exportFormat is the form of an export.
type exportFormat uint8

const (
	formatCSV        exportFormat = iota
	formatCSVWithBOM              // for Excel
	formatLines                   // of JSON
)

// Bounds of an export. One event takes at most some 10 kB: its key, and metadata of 4,096 bytes
// whose quotes are doubled.
const (
	maxPage  = 256 << 10 // bytes of a page
	maxEvent = 16 << 10
	maxRows  = 500 // events of a page
)

// storedPart ends a period with the latest event that is stored in it. Events recorded later would
// otherwise extend an export for as long as it is read. The clock is no limit: events may be a few
// minutes ahead of it, and more after it was set back.
func (r *Reader) storedPart(ctx context.Context, tenantID uuid.UUID, m usage.Meter, p usage.Period) (usage.Period, error) {
	last, exists, err := r.store.lastEvent(ctx, usage.StreamKey{TenantID: tenantID, MeterID: m.ID}, p)
	p.End = p.Start
	if exists {
		p.End = last.At.Add(time.Microsecond)
	}
	return p, err
}

// Export returns the events of a tenant's meter that were recorded for a time, the oldest
// first, in a format. Events that come meanwhile may be in it or not.
//
// Invariant: a page has at most maxPage bytes, however large the metadata of its events is.
func (r *Reader) Export(ctx context.Context, tenantID uuid.UUID, m usage.Meter, p usage.Period, format exportFormat) io.ReadCloser {
	k := usage.StreamKey{TenantID: tenantID, MeterID: m.ID}
	var start bytes.Buffer
	write := writeLine
	if format != formatLines {
		write = writeCSV
		if format == formatCSVWithBOM {
			start.WriteString(byteOrderMark)
		}
		appendCSV(&start, "id", "meter_code", "quantity", "recorded_at", "idempotency_key", "metadata")
	}
	var after uuid.UUID
	return rest.Pages(ctx, func(ctx context.Context, page *bytes.Buffer) (bool, error) {
		_, _ = start.WriteTo(page) // a buffer accepts every write; the next page has no header
		since := after
		return r.store.exportPage(ctx, k, p, since, maxRows, func(e exported) (bool, error) {
			p.Start, after = e.recordedAt, e.id
			return page.Len() < maxPage-2*maxEvent, write(page, e, m.Code)
		})
	})
}

func writeCSV(b *bytes.Buffer, e exported, code string) error {
	key := ""
	if e.key != nil {
		key = *e.key
	}
	at, err := shape.T(e.recordedAt).MarshalText()
	if err != nil {
		return err
	}
	appendCSV(b, e.id.String(), csvText(code), e.quantity.String(), string(at), csvText(key), csvJSON(compactJSON(e.metadata)))
	return nil
}

// compactJSON returns metadata without spaces, however the database keeps it.
func compactJSON(metadata sqldb.JSON) string {
	var b bytes.Buffer
	if len(metadata) == 0 || json.Compact(&b, metadata) != nil {
		return ""
	}
	return b.String()
}

// line is an event in JSON.
type line struct {
	ID             uuid.UUID      `json:"id"`
	MeterCode      string         `json:"meter_code"`
	Quantity       shape.Quantity `json:"quantity"`
	RecordedAt     shape.Time     `json:"recorded_at"`
	IdempotencyKey *string        `json:"idempotency_key"`
	Metadata       shape.Object   `json:"metadata"`
}

func writeLine(b *bytes.Buffer, e exported, code string) error {
	w := json.NewEncoder(b)
	w.SetEscapeHTML(false)
	return w.Encode(line{
		ID: e.id, MeterCode: code, Quantity: shape.Quantity{Quantity: e.quantity}, RecordedAt: shape.T(e.recordedAt),
		IdempotencyKey: e.key, Metadata: shape.Object(e.metadata),
	})
}
