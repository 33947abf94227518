package meters

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// maxSummaries is the maximum number of windows per request, over all its pages.
const maxSummaries = 10_000

// summary is the usage of a customer in a time span.
type summary struct {
	ID              string      `json:"id"`
	Object          string      `json:"object"`
	AggregatedValue json.Number `json:"aggregated_value"`
	EndTime         int64       `json:"end_time"`
	Livemode        bool        `json:"livemode"`
	Meter           string      `json:"meter"`
	StartTime       int64       `json:"start_time"`
}

// Head implements kernel.Object.
func (s summary) Head() kernel.Header { return kernel.Header{ID: s.ID, Object: s.Object} }

// ListSummaries handles GET /v1/billing/meters/{id}/event_summaries. It returns one summary for the
// whole time span, or one for each hour or day, newest first.
func ListSummaries(ctx context.Context, c *kernel.Call) (any, error) {
	p := c.Params
	var (
		customer, window string
		start, end       int64
	)
	p.Require("customer", "start_time", "end_time")
	p.Text("customer", &customer)
	p.Integer("start_time", 0, 1<<40, &start)
	p.Integer("end_time", 0, 1<<40, &end)
	p.Choice("value_grouping_window", &window, "hour", "day")
	step, unit := map[string]int64{"": 60, "hour": 3600, "day": 86400}[window], map[string]string{"": "minute", "hour": "hour", "day": "day"}[window]
	for _, bound := range []struct {
		key string
		at  int64
	}{{"start_time", start}, {"end_time", end}} {
		if bound.at%max(step, 1) != 0 {
			p.Fail(bound.key, "", "%s must be aligned with %s boundaries.", bound.key, unit)
		}
	}
	if end <= start {
		p.Fail("end_time", "", "end_time must be after start_time.")
	}
	if window == "" {
		step = max(end-start, 1)
	}
	if (end-start)/step > maxSummaries {
		p.Fail("end_time", "", "The sandbox summarizes at most %d windows per request.", maxSummaries)
	}
	m, err := All.Get(ctx, c.Q, c.ID, "id")
	if err != nil {
		return nil, err
	}
	if !p.HasFailed() {
		if _, err := customers.FindLive(ctx, c.Step, customer, "customer"); err != nil {
			return nil, err
		}
	}
	var all []summary
	for from := end - step; !p.HasFailed() && from >= start; from -= step {
		value, err := Usage(ctx, c.Step, m, customer, from, from+step)
		if err != nil {
			return nil, err
		}
		all = append(all, summary{
			ID: summaryID(m.ID, customer, from, from+step), Object: "billing.meter_event_summary",
			AggregatedValue: json.Number(DecimalText(value)), StartTime: from, EndTime: from + step, Meter: m.ID,
		})
	}
	return kernel.SlicePage(c, "/v1/billing/meters/"+m.ID+"/event_summaries", "billing meter event summary", all)
}

// summaryID derives the id of a summary from its contents. Summaries are not stored, so pagination
// needs stable ids.
func summaryID(meter, customer string, start, end int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", meter, customer, start, end))
	return "mtrusg_test_" + hex.EncodeToString(sum[:12])
}
