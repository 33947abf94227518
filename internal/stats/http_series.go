package stats

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/rest"
)

type seriesInput struct {
	Figure   Figure   `query:"figure" required:"true" enum:"mrr,tenants,subscriptions,failed_payments,quota_refusals" doc:"Statistic to return. The first three are values at the end of each period, the others are sums over the period."`
	Interval Interval `query:"interval" enum:"day,month" default:"month" doc:"Length of each data point, in UTC."`
	From     string   `query:"from" format:"date" doc:"First day, in UTC. Default: 12 months before to, or 30 days by day."`
	To       string   `query:"to" format:"date" doc:"Last day, in UTC. At most today. Default: today."`
	Currency string   `query:"currency" format:"currency" doc:"Return only revenue in this currency. Default: all currencies. Ignored for other statistics."`
}

// StatsPoint is the value of one period.
type StatsPoint struct {
	At    string `json:"at" format:"date" doc:"First day of the period."`
	Value int64  `json:"value" doc:"Value. Monthly recurring revenue is in minor units of the currency."`
}

// StatsLine is a time series of a figure, per currency for revenue.
type StatsLine struct {
	Currency *string      `json:"currency" doc:"Currency of the revenue, as an ISO 4217 code. Null for other statistics."`
	Points   []StatsPoint `json:"points" doc:"Data points, one per period, oldest first."`
}

// StatsSeriesMeta describes a series.
type StatsSeriesMeta struct {
	Figure   Figure   `json:"figure" enum:"mrr,tenants,subscriptions,failed_payments,quota_refusals" doc:"Requested statistic."`
	Interval Interval `json:"interval" enum:"day,month" doc:"Length of each data point, in UTC."`
	From     string   `json:"from" format:"date" doc:"First day of the series."`
	To       string   `json:"to" format:"date" doc:"Last day of the series."`
}

// StatsSeries is the response of Series.
type StatsSeries struct {
	Data []StatsLine     `json:"data" doc:"One series per currency, sorted by the last value, largest first. One series for statistics without a currency."`
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
