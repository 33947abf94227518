package usage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// at parses a time in a short form such as 2026-01-31 or 2026-01-31 10:30.
func at(text string) time.Time {
	layout := "2006-01-02 15:04:05.000000"
	t, err := time.Parse(layout, text+"0000-01-01 00:00:00.000000"[len(text):])
	if err != nil {
		panic(err)
	}
	return t
}

func period(start, end string) Period { return Period{Start: at(start), End: at(end)} }

func billing(anchor string, unit IntervalUnit, count int, current ...string) *Billing {
	b := &Billing{Anchor: at(anchor), IntervalUnit: unit, IntervalCount: count}
	if len(current) == 2 {
		b.Current = period(current[0], current[1])
	}
	return b
}

func TestPeriodOfWeeksAndDays(t *testing.T) {
	t.Parallel()
	sub := billing("2026-01-15 10:30", Month, 1, "2026-01-15 10:30", "2026-02-15 10:30")
	tests := []struct {
		name  string
		reset ResetInterval
		at    time.Time
		want  Period
	}{
		{"day, first instant", ResetDaily, at("2026-03-10"), period("2026-03-10", "2026-03-11")},
		{"day, last instant", ResetDaily, at("2026-03-10 23:59:59.999999"), period("2026-03-10", "2026-03-11")},
		{"day, in another zone", ResetDaily, at("2026-03-10 23:30").In(time.FixedZone("", 3600)), period("2026-03-10", "2026-03-11")},
		{"day of a leap year", ResetDaily, at("2028-02-29 12:00"), period("2028-02-29", "2028-03-01")},
		{"week on a Monday", ResetWeekly, at("2026-11-16"), period("2026-11-16", "2026-11-23")},
		{"week on a Saturday", ResetWeekly, at("2026-11-21 18:00"), period("2026-11-16", "2026-11-23")},
		{"week on a Sunday", ResetWeekly, at("2026-11-22 23:59:59.999999"), period("2026-11-16", "2026-11-23")},
		{"week over the year's end", ResetWeekly, at("2027-01-01"), period("2026-12-28", "2027-01-04")},
		{"never", ResetNever, at("2026-11-21"), Period{End: at("9999-12-31")}},
		{"never, in the year 1", ResetNever, time.Time{}, Period{End: at("9999-12-31")}},
		{"week in the year 1", ResetWeekly, time.Time{}, period("0001-01-01", "0001-01-08")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, b := range []*Billing{nil, sub} {
				if diff := cmp.Diff(tt.want, PeriodOf(tt.reset, b, tt.at)); diff != "" {
					t.Errorf("billing %v: (-want +got)\n%s", b, diff)
				}
			}
		})
	}
}

func TestPeriodOfMonthly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		billing *Billing
		at      string
		want    Period
	}{
		{"no subscription: calendar month", nil, "2026-02-28 23:59", period("2026-02-01", "2026-03-01")},
		{"no subscription: first instant", nil, "2026-03-01", period("2026-03-01", "2026-04-01")},
		{"no subscription: over the year's end", nil, "2026-12-31", period("2026-12-01", "2027-01-01")},

		{
			"a month: the current period", billing("2026-01-15 10:30", Month, 1, "2026-03-15 10:30", "2026-04-15 10:30"), "2026-04-01",
			period("2026-03-15 10:30", "2026-04-15 10:30"),
		},
		{
			"a month: one microsecond before it", billing("2026-01-15 10:30", Month, 1, "2026-03-15 10:30", "2026-04-15 10:30"), "2026-03-15 10:29:59.999999",
			period("2026-02-15 10:30", "2026-03-15 10:30"),
		},
		{
			"a month: renewal not known yet", billing("2026-01-15 10:30", Month, 1, "2026-03-15 10:30", "2026-04-15 10:30"), "2026-04-15 10:30",
			period("2026-04-15 10:30", "2026-05-15 10:30"),
		},
		{
			"a month: before the subscription", billing("2026-01-15 10:30", Month, 1, "2026-03-15 10:30", "2026-04-15 10:30"), "2025-12-20",
			period("2025-12-15 10:30", "2026-01-15 10:30"),
		},
		{
			"a month: no current period known", billing("2026-01-15 10:30", Month, 1), "2026-02-15 10:30",
			period("2026-02-15 10:30", "2026-03-15 10:30"),
		},
		{
			"a month: the provider's own bounds win", billing("2026-01-15", Month, 1, "2026-03-14", "2026-04-14"), "2026-03-14",
			period("2026-03-14", "2026-04-14"),
		},
		{
			"a month: adjacent to the provider's own bounds", billing("2026-01-15", Month, 1, "2026-03-14", "2026-04-14"), "2026-04-14",
			period("2026-04-14", "2026-04-15"),
		},

		{"a week", billing("2026-11-18 09:00", Week, 1, "2026-11-18 09:00", "2026-11-25 09:00"), "2026-11-20", period("2026-11-18 09:00", "2026-11-25 09:00")},
		{"a week: later", billing("2026-11-18 09:00", Week, 1), "2026-12-02 09:00", period("2026-12-02 09:00", "2026-12-09 09:00")},
		{"a week: earlier", billing("2026-11-18 09:00", Week, 1), "2026-11-18 08:59", period("2026-11-11 09:00", "2026-11-18 09:00")},
		{"four weeks", billing("2026-11-02", Week, 4), "2026-12-01", period("2026-11-30", "2026-12-28")},
		{"ten days", billing("2026-11-01", Day, 10), "2026-11-11", period("2026-11-11", "2026-11-21")},
		{"31 days", billing("2026-02-01", Day, 31), "2026-03-02", period("2026-02-01", "2026-03-04")},

		{"32 days are longer than a month", billing("2026-02-01", Day, 32), "2026-03-02", period("2026-03-01", "2026-04-01")},
		{"five weeks are longer than a month", billing("2026-02-01", Week, 5), "2026-03-02", period("2026-03-01", "2026-04-01")},
		{"six weeks: the first window", billing("2026-02-01", Week, 6, "2026-02-01", "2026-03-15"), "2026-02-28", period("2026-02-01", "2026-03-01")},
		{"six weeks: the second window goes on", billing("2026-02-01", Week, 6, "2026-02-01", "2026-03-15"), "2026-03-14", period("2026-03-01", "2026-04-01")},
		{"six weeks: the second window in the next period", billing("2026-02-01", Week, 6, "2026-03-15", "2026-04-26"), "2026-03-15", period("2026-03-01", "2026-04-01")},
		{"six weeks: the third window", billing("2026-02-01", Week, 6, "2026-03-15", "2026-04-26"), "2026-04-25", period("2026-04-01", "2026-05-01")},
		{"six weeks: renewal not known yet", billing("2026-02-01", Week, 6, "2026-02-01", "2026-03-15"), "2026-03-16", period("2026-03-01", "2026-04-01")},
		{"45 days", billing("2026-02-01", Day, 45, "2026-02-01", "2026-03-18"), "2026-03-17", period("2026-03-01", "2026-04-01")},
		{"45 days: in the next period", billing("2026-02-01", Day, 45, "2026-03-18", "2026-05-02"), "2026-03-18", period("2026-03-01", "2026-04-01")},
		{"trial of two weeks before 45 days", billing("2026-01-15", Day, 45, "2026-01-01", "2026-01-15"), "2026-01-05", period("2026-01-01", "2026-01-15")},
		{"trial of two weeks before 45 days: after it", billing("2026-01-15", Day, 45, "2026-01-01", "2026-01-15"), "2026-01-15", period("2026-01-15", "2026-02-15")},
		{"trial of 60 days before 45 days", billing("2026-03-10", Day, 45, "2026-01-09", "2026-03-10"), "2026-02-01", period("2026-01-10", "2026-02-10")},
		{"a quarter", billing("2026-01-15", Month, 3, "2026-01-15", "2026-04-15"), "2026-03-20", period("2026-03-15", "2026-04-15")},
		{"a year", billing("2026-01-15", Year, 1, "2026-01-15", "2027-01-15"), "2026-07-01", period("2026-06-15", "2026-07-15")},
		{"a year: the last month", billing("2026-01-15", Year, 1, "2026-01-15", "2027-01-15"), "2027-01-14", period("2026-12-15", "2027-01-15")},

		{"trial of two weeks", billing("2026-01-15", Month, 1, "2026-01-01", "2026-01-15"), "2026-01-05", period("2026-01-01", "2026-01-15")},
		{"trial of two weeks: after it", billing("2026-01-15", Month, 1, "2026-01-01", "2026-01-15"), "2026-01-15", period("2026-01-15", "2026-02-15")},
		{"trial of two weeks: before it", billing("2026-01-15", Month, 1, "2026-01-01", "2026-01-15"), "2025-12-31", period("2025-12-15", "2026-01-01")},
		{"trial of two weeks before a year", billing("2026-01-15", Year, 1, "2026-01-01", "2026-01-15"), "2026-01-05", period("2026-01-01", "2026-01-15")},
		{"trial of 60 days: its first part", billing("2026-03-10", Month, 1, "2026-01-09", "2026-03-10"), "2026-01-09", period("2026-01-09", "2026-01-10")},
		{"trial of 60 days: its second part", billing("2026-03-10", Month, 1, "2026-01-09", "2026-03-10"), "2026-02-01", period("2026-01-10", "2026-02-10")},

		{"anchor on the 31st: January", billing("2026-01-31 08:00", Month, 1), "2026-02-01", period("2026-01-31 08:00", "2026-02-28 08:00")},
		{"anchor on the 31st: February", billing("2026-01-31 08:00", Month, 1), "2026-02-28 08:00", period("2026-02-28 08:00", "2026-03-31 08:00")},
		{"anchor on the 31st: March returns to the 31st", billing("2026-01-31 08:00", Month, 1), "2026-03-31 08:00", period("2026-03-31 08:00", "2026-04-30 08:00")},
		{"anchor on the 31st: a year later", billing("2026-01-31 08:00", Month, 1), "2027-01-31 07:59", period("2026-12-31 08:00", "2027-01-31 08:00")},
		{"anchor on the 31st: before it", billing("2026-01-31 08:00", Month, 1), "2025-11-30 08:00", period("2025-11-30 08:00", "2025-12-31 08:00")},
		{"anchor on the 30th: leap year", billing("2027-11-30", Month, 1), "2028-02-29", period("2028-02-29", "2028-03-30")},
		{"anchor on the 30th: no leap year", billing("2026-11-30", Month, 1), "2027-02-28", period("2027-02-28", "2027-03-30")},
		{"anchor on the 29th: no leap year", billing("2028-02-29", Month, 1), "2029-02-28", period("2029-02-28", "2029-03-29")},
		{"anchor on the 29th: leap year", billing("2028-02-29", Year, 1), "2032-02-29", period("2032-02-29", "2032-03-29")},
		{"anchor on the 28th stays there", billing("2026-02-28", Month, 1), "2026-03-30", period("2026-03-28", "2026-04-28")},
		{"anchor on the 31st, by quarters", billing("2026-08-31", Month, 3, "2026-08-31", "2026-11-30"), "2026-10-01", period("2026-09-30", "2026-10-31")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, PeriodOf(ResetMonthly, tt.billing, at(tt.at))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Periods partition time without gaps or overlaps for any subscription.
func TestPeriodsPartitionTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBilling(t)
		reset := rapid.SampledFrom([]ResetInterval{ResetMonthly, ResetWeekly, ResetDaily}).Draw(t, "reset")
		when := drawTime(t, "at")
		p := PeriodOf(reset, b, when)
		if !p.Contains(when) {
			t.Fatalf("%v does not contain %v", p, when)
		}
		if length := p.End.Sub(p.Start); length > longestMonth {
			t.Fatalf("%v lasts %v", p, length)
		}
		inside := p.Start.Add(time.Duration(rapid.Int64Range(0, int64(p.End.Sub(p.Start)/time.Microsecond)-1).Draw(t, "inside")) * time.Microsecond)
		for _, same := range []time.Time{p.Start, inside, p.End.Add(-time.Microsecond)} {
			if got := PeriodOf(reset, b, same); !got.Equal(p) {
				t.Fatalf("%v contains %v, which is in %v", p, same, got)
			}
		}
		if next := PeriodOf(reset, b, p.End); !next.Start.Equal(p.End) {
			t.Fatalf("%v is followed by %v", p, next)
		}
		if before := PeriodOf(reset, b, p.Start.Add(-time.Microsecond)); !before.End.Equal(p.Start) {
			t.Fatalf("%v is preceded by %v", p, before)
		}
	})
}

// Renewing a subscription never moves an event to another period.
func TestMonthlyPeriodsSurviveRenewal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawBilling(t)
		if b == nil {
			return
		}
		b.Current = Period{}
		when := drawTime(t, "at")
		want := PeriodOf(ResetMonthly, b, when)
		b.Current = b.window(drawTime(t, "now"))
		if got := PeriodOf(ResetMonthly, b, when); !got.Equal(want) {
			t.Fatalf("%v became %v with the current period %v", want, got, b.Current)
		}
	})
}

func drawTime(t *rapid.T, label string) time.Time {
	from, to := at("1990-01-01").UnixMicro(), at("2060-01-01").UnixMicro()
	return time.UnixMicro(rapid.Int64Range(from, to).Draw(t, label)).UTC()
}

func drawBilling(t *rapid.T) *Billing {
	if rapid.IntRange(0, 9).Draw(t, "without subscription") == 0 {
		return nil
	}
	year := rapid.IntRange(2020, 2032).Draw(t, "year")
	month := rapid.IntRange(1, 12).Draw(t, "month")
	monthDay := rapid.OneOf(rapid.IntRange(28, 31), rapid.IntRange(1, 31)).Draw(t, "day")
	second := rapid.IntRange(0, 86399).Draw(t, "second")
	b := &Billing{
		Anchor:        time.Date(year, time.Month(month), monthDay, 0, 0, second, 0, time.UTC),
		IntervalUnit:  rapid.SampledFrom([]IntervalUnit{Day, Week, Month, Year}).Draw(t, "unit"),
		IntervalCount: rapid.IntRange(1, 40).Draw(t, "count"),
	}
	switch rapid.IntRange(0, 2).Draw(t, "current") {
	case 1: // a trial that ends at the anchor
		trial := time.Duration(rapid.IntRange(1, 100).Draw(t, "trial")) * day
		b.Current = Period{b.Anchor.Add(-trial), b.Anchor}
	case 2: // bounds unrelated to the anchor
		start := drawTime(t, "start")
		b.Current = Period{start, start.Add(time.Duration(rapid.Int64Range(1, int64(400*day)).Draw(t, "length")).Truncate(time.Microsecond) + time.Microsecond)}
	}
	return b
}

// Times under former terms belong to the periods of those terms, and interrupted windows count
// until their original end.
func TestFormerTerms(t *testing.T) {
	t.Parallel()
	former := func(until, anchor string, unit IntervalUnit, current ...string) FormerBilling {
		return FormerBilling{Billing: *billing(anchor, unit, 1, current...), Until: at(until)}
	}
	b := billing("2026-11-20", Month, 1, "2026-11-20", "2026-12-20")
	b.Former = []FormerBilling{
		former("2026-11-05", "2026-11-01", Month, "2026-11-01", "2026-12-01"),
		former("2026-11-12", "2026-11-05", Week, "2026-11-05", "2026-11-12"), // ended at the end of its period
		former("2026-11-18", "2026-11-15", Year, "2026-11-15", "2027-11-15"), // after a time without a subscription
	}
	for _, tt := range []struct {
		at, want    Period
		interrupted []Period
	}{
		{period("2026-10-20", "2026-10-20"), period("2026-10-01", "2026-11-01"), nil},
		{period("2026-11-02", "2026-11-02"), period("2026-11-01", "2026-11-05"), nil},
		{period("2026-11-05", "2026-11-05"), period("2026-11-05", "2026-11-12"), []Period{period("2026-11-01", "2026-11-05")}},
		{period("2026-11-13", "2026-11-13"), period("2026-11-12", "2026-11-15"), []Period{period("2026-11-01", "2026-11-05")}},
		{period("2026-11-16", "2026-11-16"), period("2026-11-15", "2026-11-18"), []Period{period("2026-11-01", "2026-11-05")}},
		{period("2026-11-19", "2026-11-19"), period("2026-11-18", "2026-11-20"), []Period{period("2026-11-01", "2026-11-05"), period("2026-11-15", "2026-11-18")}},
		{period("2026-12-01", "2026-12-01"), period("2026-11-20", "2026-12-20"), []Period{period("2026-11-15", "2026-11-18")}},
		{period("2026-12-15", "2026-12-15"), period("2026-11-20", "2026-12-20"), nil},
	} {
		if diff := cmp.Diff(tt.want, PeriodOf(ResetMonthly, b, tt.at.Start)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.at.Start, diff)
		}
		if diff := cmp.Diff(tt.interrupted, b.InterruptedWindows(tt.at.Start)); diff != "" {
			t.Errorf("interrupted at %s (-want +got)\n%s", tt.at.Start, diff)
		}
	}
}
