package operation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

func day(text string) time.Time {
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

// Only lines of this very change count.
func TestPreviewCountsItsOwnLines(t *testing.T) {
	t.Parallel()
	now, end := day("2026-01-16T12:00:00"), day("2026-02-01T12:00:00")
	change := psp.Change{PriceID: "price_new", ProrationDate: now}
	p := Preview{PeriodEnd: end}
	p.count([]psp.InvoiceLine{
		{Amount: -950, Proration: true, PriceID: "price_old", PeriodStart: now, PeriodEnd: end},
		{Amount: 2450, Proration: true, PriceID: "price_new", PeriodStart: now, PeriodEnd: end},
		{Amount: 600, Proration: true, PriceID: "price_old", PeriodStart: now.Add(-time.Hour), PeriodEnd: end}, // a seat from before
		{Amount: 4900, PriceID: "price_new", PeriodStart: end, PeriodEnd: end.AddDate(0, 1, 0)},                // the renewal
		{Amount: 77, PriceID: "price_usage", PeriodStart: now.AddDate(0, 0, -15), PeriodEnd: now},              // what was used
		{Amount: 10000, PriceID: "price_new", PeriodStart: now.Add(3 * time.Second)},                           // a period that begins now
	}, change)
	if p.Credit != 950 || p.Charge != 12450 || p.Net() != 11500 {
		t.Errorf("credit %d, charge %d, net %d", p.Credit, p.Charge, p.Net())
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
			p := Preview{PeriodStart: day("2026-01-15T23:30:00"), PeriodEnd: day("2026-02-15T23:30:00"), At: day(tt.at)}
			if p.DaysRemaining() != tt.wantLeft || p.TotalDays() != tt.total {
				t.Errorf("%d of %d days", p.DaysRemaining(), p.TotalDays())
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
		if diff := cmp.Diff(day(tt.want), after(day(tt.from), catalog.Interval{Unit: tt.unit, Count: tt.n})); diff != "" {
			t.Errorf("%d %s after %s: %s", tt.n, tt.unit, tt.from, diff)
		}
	}
}

func TestProrationDateIsWithinThePeriod(t *testing.T) {
	t.Parallel()
	sub := subscription.Subscription{CurrentPeriodStart: day("2026-01-15T10:00:00"), CurrentPeriodEnd: day("2026-02-15T10:00:00")}
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
