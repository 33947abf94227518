package history

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/usage"
)

// HTTP has the handlers.
type HTTP struct{ reader *Reader }

// NewHTTP returns the handlers.
func NewHTTP(r *Reader) *HTTP { return &HTTP{reader: r} }

// TimeRange is the time range of a request.
type TimeRange struct {
	From string `query:"from" doc:"Start, inclusive: a datetime, or a date in UTC. Default: 30 days before to. For a series, 7 days by hour and one year by month."`
	To   string `query:"to" doc:"End, exclusive: a datetime, or a date in UTC. Default: now."`
}

// defaultDays is the length of the default time range, in days.
const defaultDays = 30

// period parses the time range. By default it starts days before its end and ends at now,
// inclusive.
func (b TimeRange) period(now time.Time, days int) (usage.Period, error) {
	var broken fault.Fields
	read := func(field, text string, otherwise time.Time) time.Time {
		if text == "" {
			return otherwise
		}
		at, err := clock.ParseRFC3339(text)
		if err != nil {
			at, err = time.Parse(time.DateOnly, text)
		}
		if at = at.UTC().Truncate(time.Microsecond); err != nil || at.Year() < 1 || at.Year() > 9999 {
			broken.Add(field, "validation.datetime")
		}
		return at
	}
	to := read("to", b.To, now.UTC().Add(time.Microsecond))
	p := usage.Period{Start: read("from", b.From, to.AddDate(0, 0, -days)), End: to}
	if err := broken.Err(); err != nil {
		return p, err
	}
	if !p.Start.Before(p.End) {
		return p, errNoPeriod
	}
	return p, nil
}

// SeriesQuery selects a meter, the length of the data points and a time range.
type SeriesQuery struct {
	MeterCode string   `query:"meter_code" required:"true" minLength:"1" maxLength:"255"`
	Interval  Interval `query:"interval" enum:"hour,day,month" default:"day" doc:"Length of each data point, in UTC."`
	TimeRange
}

type seriesInput struct {
	TenantID string `path:"tenantId"`
	SeriesQuery
}

type adminSeriesInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	SeriesQuery
}

// SeriesPoint is the value of a meter in one period.
type SeriesPoint struct {
	At    shape.Time  `json:"at" doc:"Start of the period, in UTC."`
	Value shape.Total `json:"value" doc:"Usage in the period. 0 without events; for a last_value meter, the most recent value."`
}

// UsageSeries is the usage on a meter over time.
type UsageSeries struct {
	MeterCode string        `json:"meter_code"`
	UnitLabel *string       `json:"unit_label"`
	Interval  Interval      `json:"interval" enum:"hour,day,month"`
	Points    []SeriesPoint `json:"points"`
}

// Series handles GET /usage/series.
func (h *HTTP) Series(ctx context.Context, in *seriesInput) (*rest.Data[UsageSeries], error) {
	return h.series(ctx, authz.TenantID(ctx), in.SeriesQuery)
}

// AdminSeries handles GET /admin/tenants/{tenant}/usage/series.
func (h *HTTP) AdminSeries(ctx context.Context, in *adminSeriesInput) (*rest.Data[UsageSeries], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.series(ctx, id, in.SeriesQuery)
}

func (h *HTTP) series(ctx context.Context, tenantID uuid.UUID, q SeriesQuery) (*rest.Data[UsageSeries], error) {
	p, err := q.period(h.reader.clock.Now(), q.Interval.days())
	if err != nil {
		return nil, err
	}
	m, err := h.reader.store.meter(ctx, q.MeterCode)
	if err != nil {
		return nil, err
	}
	points, err := h.reader.Series(ctx, tenantID, m, q.Interval, p)
	if err != nil {
		return nil, err
	}
	out := UsageSeries{MeterCode: m.Code, UnitLabel: m.UnitLabel, Interval: q.Interval, Points: make([]SeriesPoint, len(points))}
	for i, point := range points {
		out.Points[i] = SeriesPoint{At: shape.T(point.At), Value: shape.Total{Total: point.Value}}
	}
	return rest.OK(out), nil
}

type exportInput struct {
	TenantID  string `path:"tenantId"`
	MeterCode string `query:"meter_code" required:"true" minLength:"1" maxLength:"255"`
	Format    string `query:"format" enum:"csv,jsonl" default:"csv"`
	BOM       bool   `query:"bom" doc:"Whether to start the CSV with a byte order mark, which Excel requires for UTF-8."`
	TimeRange
}

// Export handles GET /usage/export.
func (h *HTTP) Export(ctx context.Context, in *exportInput) (*rest.Blob, error) {
	p, err := in.period(h.reader.clock.Now(), defaultDays)
	if err != nil {
		return nil, err
	}
	m, err := h.reader.store.meter(ctx, in.MeterCode)
	if err != nil {
		return nil, err
	}
	p, err = h.reader.storedPart(ctx, authz.TenantID(ctx), m, p)
	if err != nil {
		return nil, err
	}
	contentType, format := "text/csv; charset=utf-8", formatCSV
	switch {
	case in.Format == "jsonl":
		contentType, format = "application/x-ndjson", formatLines
	case in.BOM:
		format = formatCSVWithBOM
	}
	return &rest.Blob{
		ContentType: contentType, Length: -1, Stream: h.reader.Export(ctx, authz.TenantID(ctx), m, p, format),
		Disposition: rest.Attachment("usage-" + m.Code + "." + in.Format),
	}, nil
}
