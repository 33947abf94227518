package stats

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/rest"
)

type seriesInput struct {
	Figure   Figure   `query:"figure" required:"true" enum:"mrr,tenants,subscriptions,failed_payments,quota_refusals" doc:"What is shown: of the first three the value at the end of each period, of the others the sum over it."`
	Interval Interval `query:"interval" enum:"day,month" default:"month" doc:"The periods of the points, in UTC."`
	From     string   `query:"from" format:"date" doc:"The first day, in UTC. By default 12 months until to, or 30 days."`
	To       string   `query:"to" format:"date" doc:"The last day, in UTC. By default, and at most, today."`
	Currency string   `query:"currency" format:"currency" doc:"Only revenue in this currency; in all when omitted. Other figures have none."`
}

// StatsPoint is the value of one period.
type StatsPoint struct {
	At    string `json:"at" format:"date" doc:"The day on which the period begins."`
	Value int64  `json:"value" doc:"A number; of revenue minor units a month."`
}

// StatsLine is a time series of a figure, per currency for revenue.
type StatsLine struct {
	Currency *string      `json:"currency" doc:"The currency of revenue; null for other figures."`
	Points   []StatsPoint `json:"points" doc:"One for each period, the oldest first."`
}

// StatsSeriesMeta describes a series.
type StatsSeriesMeta struct {
	Figure   Figure   `json:"figure" enum:"mrr,tenants,subscriptions,failed_payments,quota_refusals" doc:"What is shown, as it was asked for."`
	Interval Interval `json:"interval" enum:"day,month" doc:"The periods of the points, in UTC."`
	From     string   `json:"from" format:"date" doc:"The first day that counts."`
	To       string   `json:"to" format:"date" doc:"The last day that counts."`
}

// StatsSeries is the response of Series.
type StatsSeries struct {
	Data []StatsLine     `json:"data" doc:"One for each currency, the one that is largest at the end first; for figures without a currency one."`
	Meta StatsSeriesMeta `json:"meta"`
}

// Series handles GET /admin/stats/series.
func (h *HTTP) Series(ctx context.Context, in *seriesInput) (*rest.Body[StatsSeries], error) {
	today := Day.start(h.service.deps.Clock.Now().UTC())
	to := dateOr(in.To, today)
	if to.After(today) {
		to = today
	}
	from := dateOr(in.From, in.Interval.defaultStart(to))
	of, err := periods(in.Interval, from, to)
	if err != nil {
		return nil, err
	}
	lines, err := h.service.series(ctx, in.Figure, of, in.Currency)
	if err != nil {
		return nil, err
	}
	out := StatsSeries{Data: []StatsLine{}, Meta: StatsSeriesMeta{in.Figure, in.Interval, from.Format(time.DateOnly), to.Format(time.DateOnly)}}
	for _, l := range lines {
		points := make([]StatsPoint, len(of))
		for i, p := range of {
			points[i] = StatsPoint{At: p.at.Format(time.DateOnly), Value: l.values[i]}
		}
		out.Data = append(out.Data, StatsLine{Currency: l.currency, Points: points})
	}
	return rest.NewBody(out), nil
}

// dateOr returns a validated date, or otherwise if text is empty.
func dateOr(text string, otherwise time.Time) time.Time {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at
	}
	return otherwise
}
