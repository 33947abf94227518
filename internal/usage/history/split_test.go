package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// For any period and any summed_before, each time belongs to exactly one part.
func TestSplit(t *testing.T) {
	t.Parallel()
	type part [2]string
	for name, tt := range map[string]struct {
		from, to, summedBefore string
		summed                 part // hours
		scanned                []part
	}{
		"nothing summed":           {"2026-01-01 00:00", "2026-01-02 00:00", "", part{}, []part{{"2026-01-01 00:00", "2026-01-02 00:00"}}},
		"all summed":               {"2026-01-01 00:00", "2026-01-02 00:00", "2026-01-03 00:00", part{"2026-01-01 00:00", "2026-01-02 00:00"}, nil},
		"summed until the end":     {"2026-01-01 00:00", "2026-01-02 00:00", "2026-01-02 00:00", part{"2026-01-01 00:00", "2026-01-02 00:00"}, nil},
		"summed to an hour":        {"2026-01-01 00:00", "2026-01-02 00:00", "2026-01-01 10:00", part{"2026-01-01 00:00", "2026-01-01 10:00"}, []part{{"2026-01-01 10:00", "2026-01-02 00:00"}}},
		"summed within an hour":    {"2026-01-01 00:00", "2026-01-02 00:00", "2026-01-01 10:20", part{"2026-01-01 00:00", "2026-01-01 11:00"}, []part{{"2026-01-01 10:20", "2026-01-02 00:00"}}},
		"summed before":            {"2026-01-01 00:00", "2026-01-02 00:00", "2025-12-31 00:00", part{}, []part{{"2026-01-01 00:00", "2026-01-02 00:00"}}},
		"summed until the start":   {"2026-01-01 00:00", "2026-01-02 00:00", "2026-01-01 00:00", part{}, []part{{"2026-01-01 00:00", "2026-01-02 00:00"}}},
		"from within an hour":      {"2026-01-01 00:30", "2026-01-02 00:00", "2026-01-03 00:00", part{"2026-01-01 01:00", "2026-01-02 00:00"}, []part{{"2026-01-01 00:30", "2026-01-01 01:00"}}},
		"to within an hour":        {"2026-01-01 00:00", "2026-01-01 10:30", "2026-01-03 00:00", part{"2026-01-01 00:00", "2026-01-01 10:00"}, []part{{"2026-01-01 10:00", "2026-01-01 10:30"}}},
		"both within hours":        {"2026-01-01 00:30", "2026-01-01 10:30", "2026-01-03 00:00", part{"2026-01-01 01:00", "2026-01-01 10:00"}, []part{{"2026-01-01 00:30", "2026-01-01 01:00"}, {"2026-01-01 10:00", "2026-01-01 10:30"}}},
		"less than an hour":        {"2026-01-01 00:10", "2026-01-01 00:20", "2026-01-03 00:00", part{}, []part{{"2026-01-01 00:10", "2026-01-01 00:20"}}},
		"over a full hour's start": {"2026-01-01 00:50", "2026-01-01 01:10", "2026-01-03 00:00", part{}, []part{{"2026-01-01 00:50", "2026-01-01 01:10"}}},
		"summed within the first":  {"2026-01-01 00:30", "2026-01-01 05:00", "2026-01-01 00:40", part{}, []part{{"2026-01-01 00:30", "2026-01-01 05:00"}}},
		"summed within the last":   {"2026-01-01 00:00", "2026-01-01 05:30", "2026-01-01 05:20", part{"2026-01-01 00:00", "2026-01-01 06:00"}, []part{{"2026-01-01 05:20", "2026-01-01 05:30"}}},
		"before 1970":              {"1969-12-31 00:00", "1970-01-02 00:00", "1971-01-01 00:00", part{"1969-12-31 00:00", "1970-01-02 00:00"}, nil},
	} {
		before := time.Time{}
		if tt.summedBefore != "" {
			before = at(tt.summedBefore)
		}
		summed, scanned := split(usage.Period{Start: at(tt.from), End: at(tt.to)}, before)
		got := part{}
		if summed.from < summed.to {
			got = part{usage.StartOfHour(summed.from).Format("2006-01-02 15:04"), usage.StartOfHour(summed.to).Format("2006-01-02 15:04")}
		}
		var rest []part
		for _, p := range scanned {
			rest = append(rest, part{p.Start.Format("2006-01-02 15:04"), p.End.Format("2006-01-02 15:04")})
		}
		if diff := cmp.Diff(tt.summed, got) + cmp.Diff(tt.scanned, rest); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		interval              Interval
		within, start, beyond string
	}{
		{Hour, "2026-01-31 23:59", "2026-01-31 23:00", "2026-02-01 00:00"},
		{Day, "2026-01-31 23:59", "2026-01-31 00:00", "2026-02-01 00:00"},
		{Day, "2028-02-28 00:00", "2028-02-28 00:00", "2028-02-29 00:00"},
		{Month, "2026-01-31 23:59", "2026-01-01 00:00", "2026-02-01 00:00"},
		{Month, "2026-12-01 00:00", "2026-12-01 00:00", "2027-01-01 00:00"},
	} {
		start := tt.interval.start(at(tt.within))
		if !start.Equal(at(tt.start)) || !tt.interval.next(start).Equal(at(tt.beyond)) {
			t.Errorf("%s of %s: %s to %s", tt.interval, tt.within, start, tt.interval.next(start))
		}
	}
	// Periods are in UTC, whatever the time zone of the argument.
	if start := Day.start(at("2026-01-01 01:00").In(time.FixedZone("", -3*3600))); !start.Equal(at("2026-01-01 00:00")) {
		t.Errorf("%s", start)
	}
}

func TestHours(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"1970-01-01 00:00": 0, "1970-01-01 00:59": 0, "1970-01-01 01:00": 1, "1969-12-31 23:59": -1, "1969-12-31 23:00": -1, "1969-12-31 22:59": -2,
	} {
		if got := usage.HourOf(at(text)); got != want || usage.StartOfHour(got).After(at(text)) {
			t.Errorf("%s: %d", text, got)
		}
	}
	k := usage.StreamKey{TenantID: [16]byte{1}}
	other := usage.StreamKey{TenantID: [16]byte{2}}
	event := func(of usage.StreamKey, id byte, quantity money.Quantity, text string) usage.CountedEvent {
		return usage.CountedEvent{Stream: of, ID: [16]byte{id}, Quantity: quantity, At: at(text)}
	}
	got := usage.HoursOf([]usage.CountedEvent{
		event(other, 9, 5*money.One, "1970-01-01 00:10"), event(k, 3, 2*money.One+1, "1970-01-01 01:30"),
		event(k, 2, 7*money.One, "1970-01-01 01:30"), event(k, 1, 3*money.One, "1970-01-01 01:10"), event(k, 4, 0, "1970-01-01 02:00"),
	})
	want := []usage.Hour{
		{Stream: k, Hour: 1, Events: 3, Units: 12, Millionths: 1, Highest: 7 * money.One, Last: 2*money.One + 1, LastAt: at("1970-01-01 01:30")},
		{Stream: k, Hour: 2, Events: 1, LastAt: at("1970-01-01 02:00")},
		{Stream: other, Hour: 0, Events: 1, Units: 5, Highest: 5 * money.One, Last: 5 * money.One, LastAt: at("1970-01-01 00:10")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
