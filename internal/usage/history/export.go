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
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// exportedEvent is an event in an export.
type exportedEvent struct {
	id         uuid.UUID
	quantity   money.Quantity
	recordedAt time.Time
	key        *string
	metadata   sqldb.JSON
}

// exportFormat is the file format of an export.
type exportFormat uint8

const (
	formatCSV        exportFormat = iota
	formatCSVWithBOM              // for Excel
	formatLines                   // JSON lines
)

// Limits of an export. An event takes at most about 10 kB: its key, and 4,096 bytes of metadata
// with doubled quotes.
const (
	maxPage  = 256 << 10 // bytes per page
	maxEvent = 16 << 10
	maxRows  = 500 // events per page
)

// storedPart returns the part of a period up to its latest stored event. Otherwise, events recorded
// during the export would extend it indefinitely. The clock is not a suitable limit: events can be
// a few minutes ahead of it, and more after it was set back.
func (r *Reader) storedPart(ctx context.Context, tenantID uuid.UUID, m usage.Meter, p usage.Period) (usage.Period, error) {
	last, exists, err := r.store.lastEvent(ctx, usage.StreamKey{TenantID: tenantID, MeterID: m.ID}, p)
	p.End = p.Start
	if exists {
		p.End = last.At.Add(time.Microsecond)
	}
	return p, err
}

// Export returns the events of a tenant's meter that were recorded for a period, oldest first.
// Events recorded during the export may or may not be included.
//
// Invariant: a page has at most maxPage bytes, however large the metadata of its events is.
func (r *Reader) Export(ctx context.Context, tenantID uuid.UUID, m usage.Meter, p usage.Period, format exportFormat) io.ReadCloser {
	k := usage.StreamKey{TenantID: tenantID, MeterID: m.ID}
	var start bytes.Buffer
	write := writeLine
	if format != formatLines {
		write = writeCSV
		if format == formatCSVWithBOM {
			start.WriteString(sheet.ByteOrderMark)
		}
		sheet.AppendRow(&start, "id", "meter_code", "quantity", "recorded_at", "idempotency_key", "metadata")
	}
	var after uuid.UUID
	return rest.Pages(ctx, func(ctx context.Context, page *bytes.Buffer) (bool, error) {
		_, _ = start.WriteTo(page) // writing to a buffer never fails; later pages have no header
		since := after
		return r.store.exportPage(ctx, k, p, since, maxRows, func(e exportedEvent) (bool, error) {
			p.Start, after = e.recordedAt, e.id
			return page.Len() < maxPage-2*maxEvent, write(page, e, m.Code)
		})
	})
}

func writeCSV(b *bytes.Buffer, e exportedEvent, code string) error {
	key := ""
	if e.key != nil {
		key = *e.key
	}
	at, err := shape.T(e.recordedAt).MarshalText()
	if err != nil {
		return err
	}
	sheet.AppendRow(b, e.id.String(), sheet.Text(code), e.quantity.String(), string(at), sheet.Text(key), sheet.JSON(compactJSON(e.metadata)))
	return nil
}

// compactJSON returns metadata without whitespace, regardless of the database's format.
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

func writeLine(b *bytes.Buffer, e exportedEvent, code string) error {
	w := json.NewEncoder(b)
	w.SetEscapeHTML(false)
	return w.Encode(line{
		ID: e.id, MeterCode: code, Quantity: shape.Quantity{Quantity: e.quantity}, RecordedAt: shape.T(e.recordedAt),
		IdempotencyKey: e.key, Metadata: shape.Object(e.metadata),
	})
}
