package subscription

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

func day(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

// All lines of the change's own invoice count. Lines of other changes are recognized, even if they
// are from the same second.
func TestPreviewCountsTheWholeInvoice(t *testing.T) {
	t.Parallel()
	now, end := day("2026-01-16T12:00:00"), day("2026-02-01T12:00:00")
	change := psp.Change{PriceID: "price_new", ProrationDate: now}
	p := preview{periodEnd: end}
	lines := []psp.InvoiceLine{
		{Amount: -600, Proration: true, PriceID: "price_old", PeriodStart: now, PeriodEnd: end, Quantity: 2},
		{Amount: 950, Proration: true, PriceID: "price_old", PeriodStart: now, PeriodEnd: end, Quantity: 3},
		{Amount: -950, Proration: true, PriceID: "price_old", PeriodStart: now, PeriodEnd: end, Quantity: 3},
		{Amount: 2450, Proration: true, PriceID: "price_new", PeriodStart: now, PeriodEnd: end},
		{Amount: 600, Proration: true, PriceID: "price_old", PeriodStart: now.Add(-time.Hour), PeriodEnd: end}, // an earlier change of seats
		{Amount: 4900, PriceID: "price_new", PeriodStart: end, PeriodEnd: end.AddDate(0, 1, 0)},                // the renewal
		{Amount: 77, PriceID: "price_usage", PeriodStart: now.AddDate(0, 0, -15), PeriodEnd: now},              // usage so far
		{Amount: 10000, PriceID: "price_new", PeriodStart: now.Add(3 * time.Second)},                           // a period that starts now
	}
	p.addLines(lines, change, 3)
	if p.credit != 1550 || p.charge != 14077 || p.pending != 350+600+77 || p.net() != p.charge-p.credit {
		t.Errorf("credit %d, charge %d, pending %d, net %d", p.credit, p.charge, p.pending, p.net())
	}
	// Without lines of its own, the change creates no invoice.
	p = preview{periodEnd: end}
	if p.addLines(lines[4:6], change, 3); p.credit != 0 || p.charge != 0 || p.pending != 0 {
		t.Errorf("no invoice: %+v", p)
	}
}

// Usage so far is apart from the charge, and the usage of the renewal does not count. A proration of a
// metered price is not expected, so it counts as a charge instead of being hidden.
func TestPreviewSeparatesUsage(t *testing.T) {
	t.Parallel()
	start, now, end := day("2026-01-01T12:00:00"), day("2026-01-16T12:00:00"), day("2026-02-01T12:00:00")
	change := pricedChange{
		Change:  psp.Change{PriceID: "price_new", ProrationDate: now},
		metered: []psp.MeteredItem{{ID: "si_usage", PriceID: "price_usage"}},
	}
	p := preview{periodEnd: end}
	p.addLines(p.addUsage([]psp.InvoiceLine{
		{Amount: 2450, Proration: true, PriceID: "price_new", PeriodStart: now, PeriodEnd: end},
		{Amount: 80, Discount: 3, PriceID: "price_usage", PeriodStart: start, PeriodEnd: now},
		{Amount: 200, PriceID: "price_usage", PeriodStart: start, PeriodEnd: end},
		{Amount: 125, Proration: true, PriceID: "price_usage", PeriodStart: now, PeriodEnd: end},
	}, change), change.Change, 1)
	if p.usage != 77 || p.charge != 2575 || p.credit != 0 {
		t.Errorf("usage %d, charge %d, credit %d", p.usage, p.charge, p.credit)
	}
}

func TestDaysOfAPreview(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		at              string
		wantLeft, total int
	}{
		"at its start":       {"2026-01-15T23:30:00", 31, 31},
		"within":             {"2026-01-31T00:00:00", 15, 31},
		"on its last day":    {"2026-02-14T23:59:59", 1, 31},
		"at its end":         {"2026-02-15T23:30:00", 0, 31},
		"later than its end": {"2026-02-20T00:00:00", 0, 31},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := preview{periodStart: day("2026-01-15T23:30:00"), periodEnd: day("2026-02-15T23:30:00"), at: day(tt.at)}
			if p.daysRemaining() != tt.wantLeft || p.totalDays() != tt.total {
				t.Errorf("%d of %d days", p.daysRemaining(), p.totalDays())
			}
		})
	}
}

func TestOneIntervalLater(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from string
		unit string
		n    int32
		want string
	}{
		{"2026-01-31T10:00:00", "day", 30, "2026-03-02T10:00:00"},
		{"2026-01-31T10:00:00", "week", 2, "2026-02-14T10:00:00"},
		{"2026-01-31T10:00:00", "month", 1, "2026-02-28T10:00:00"},
		{"2026-11-30T10:00:00", "month", 3, "2027-02-28T10:00:00"},
		{"2028-02-29T10:00:00", "year", 1, "2029-02-28T10:00:00"},
		{"2026-05-15T10:00:00", "year", 1, "2027-05-15T10:00:00"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(day(tt.want), addInterval(day(tt.from), catalog.Interval{Unit: tt.unit, Count: tt.n})); diff != "" {
			t.Errorf("%d %s after %s: %s", tt.n, tt.unit, tt.from, diff)
		}
	}
}

func TestProrationDateIsWithinThePeriod(t *testing.T) {
	t.Parallel()
	sub := Subscription{CurrentPeriodStart: day("2026-01-15T10:00:00"), CurrentPeriodEnd: day("2026-02-15T10:00:00")}
	for now, want := range map[string]string{
		"2026-01-15T09:00:00": "2026-01-15T10:00:00",
		"2026-01-20T00:00:00": "2026-01-20T00:00:00",
		"2026-03-01T00:00:00": "2026-02-15T10:00:00",
	} {
		if got := prorationDate(sub, day(now).Add(900*time.Millisecond)); !got.Equal(day(want)) {
			t.Errorf("at %s: %s", now, got)
		}
	}
}
