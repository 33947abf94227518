package billing_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
)

func moment(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.DateTime, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

func day(at int64) string { return time.Unix(at, 0).UTC().Format(time.DateOnly) }

func TestBoundariesFollowTheAnchor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		anchor string
		every  billing.Interval
		want   []string
	}{
		{"2026-01-15", billing.Interval{Unit: "month", Count: 1}, []string{"2026-02-15", "2026-03-15", "2026-04-15"}},
		{"2026-01-31", billing.Interval{Unit: "month", Count: 1}, []string{"2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"}},
		{"2028-01-31", billing.Interval{Unit: "month", Count: 1}, []string{"2028-02-29", "2028-03-31"}},
		{"2026-01-29", billing.Interval{Unit: "month", Count: 1}, []string{"2026-02-28", "2026-03-29"}},
		{"2026-12-30", billing.Interval{Unit: "month", Count: 1}, []string{"2027-01-30", "2027-02-28", "2027-03-30"}},
		{"2025-11-30", billing.Interval{Unit: "month", Count: 3}, []string{"2026-02-28", "2026-05-30", "2026-08-30", "2026-11-30"}},
		{"2028-02-29", billing.Interval{Unit: "year", Count: 1}, []string{"2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"}},
		{"2026-12-31", billing.Interval{Unit: "year", Count: 2}, []string{"2028-12-31", "2030-12-31"}},
		{"2026-02-25", billing.Interval{Unit: "week", Count: 1}, []string{"2026-03-04", "2026-03-11"}},
		{"2026-02-25", billing.Interval{Unit: "week", Count: 2}, []string{"2026-03-11", "2026-03-25"}},
		{"2026-02-25", billing.Interval{Unit: "day", Count: 5}, []string{"2026-03-02", "2026-03-07"}},
	} {
		cycle := billing.Cycle{Anchor: moment(t, c.anchor+" 23:30:15"), Every: c.every}
		var got []string
		for n := range c.want {
			at := cycle.Boundary(int64(n) + 1)
			if time.Unix(at, 0).UTC().Format(time.TimeOnly) != "23:30:15" {
				t.Errorf("%v from %s: boundary at another time of day", c.every, c.anchor)
			}
			got = append(got, day(at))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v from %s (-want +got):\n%s", c.every, c.anchor, diff)
		}
	}
	if got := day(billing.Cycle{Anchor: moment(t, "2026-03-31 00:00:00"), Every: billing.Interval{Unit: "month", Count: 1}}.Boundary(-1)); got != "2026-02-28" {
		t.Errorf("the boundary before 31 March is %s", got)
	}
}

// TestPeriodsHaveNoGapAndNoOverlap checks six years of periods, with anchors on the days that not
// all months have and on leap days.
func TestPeriodsHaveNoGapAndNoOverlap(t *testing.T) {
	t.Parallel()
	anchors := []string{"2026-01-01", "2026-01-15", "2026-01-28", "2026-01-29", "2026-01-30", "2026-01-31", "2026-03-31", "2027-12-31", "2028-02-28", "2028-02-29", "2024-02-29"}
	intervals := []billing.Interval{
		{Unit: "day", Count: 1},
		{Unit: "day", Count: 10},
		{Unit: "week", Count: 1},
		{Unit: "week", Count: 4},
		{Unit: "month", Count: 1},
		{Unit: "month", Count: 2},
		{Unit: "month", Count: 3},
		{Unit: "month", Count: 6},
		{Unit: "month", Count: 36},
		{Unit: "year", Count: 1},
		{Unit: "year", Count: 3},
	}
	for _, anchor := range anchors {
		for _, every := range intervals {
			cycle := billing.Cycle{Anchor: moment(t, anchor+" 10:00:01"), Every: every}
			until := time.Unix(cycle.Anchor, 0).UTC().AddDate(6, 0, 0).Unix()
			for at := cycle.Anchor; at < until; {
				start, end := cycle.Period(at)
				if start != at || end <= start {
					t.Fatalf("%v from %s: the period from %s begins %s and ends %s", every, anchor, day(at), day(start), day(end))
				}
				for _, within := range []int64{start + 1, (start + end) / 2, end - 1} {
					if s, e := cycle.Period(within); s != start || e != end {
						t.Fatalf("%v from %s: %s is in the period from %s to %s", every, anchor, day(within), day(s), day(e))
					}
				}
				if every.Unit == "month" || every.Unit == "year" {
					checkDay(t, cycle.Anchor, end)
				}
				at = end
			}
			if start, end := cycle.Period(cycle.Anchor - 1); end != cycle.Anchor || start != cycle.Boundary(-1) {
				t.Errorf("%v from %s: the period before it is from %s to %s", every, anchor, day(start), day(end))
			}
		}
	}
}

// checkDay checks that the boundary is on the anchor's day of the month, or on the month's last
// day.
func checkDay(t *testing.T, anchor, at int64) {
	t.Helper()
	want, got := time.Unix(anchor, 0).UTC().Day(), time.Unix(at, 0).UTC()
	last := got.AddDate(0, 0, 1).Month() != got.Month()
	if got.Day() != want && (!last || got.Day() > want) {
		t.Fatalf("anchored on day %d, a boundary is %s", want, day(at))
	}
}
