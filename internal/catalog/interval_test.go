package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/catalog"
)

func TestCycleInterval(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"monthly", "yearly", "quarterly", "weekly"}, catalog.BillingCycles()); diff != "" {
		t.Error(diff)
	}
	for cycle, want := range map[string]catalog.Interval{
		"monthly":   {Unit: "month", Count: 1},
		"quarterly": {Unit: "month", Count: 3},
		"yearly":    {Unit: "year", Count: 1},
		"weekly":    {Unit: "week", Count: 1},
		"daily":     {}, "": {}, "Monthly": {}, "monthly ": {}, "month": {},
	} {
		got, ok := catalog.CycleInterval(cycle)
		if got != want || ok != (want != catalog.Interval{}) {
			t.Errorf("%q: %v, %t", cycle, got, ok)
		}
	}
}

// A unit and a count take precedence over a cycle. The billing cycle changes if a cycle has the new
// interval.
func TestSetInterval(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	count := func(n int32) *int32 { return &n }
	type terms struct {
		Cycle string
		catalog.Interval
	}
	monthly := terms{"monthly", catalog.Interval{Unit: "month", Count: 1}}
	for name, tt := range map[string]struct {
		old         terms
		cycle, unit *string
		count       *int32
		want        terms
	}{
		"nothing":                    {old: monthly, want: monthly},
		"nothing of an odd interval": {old: terms{"monthly", catalog.Interval{Unit: "day", Count: 10}}, want: terms{"monthly", catalog.Interval{Unit: "day", Count: 10}}},
		"a cycle":                    {old: monthly, cycle: text("yearly"), want: terms{"yearly", catalog.Interval{Unit: "year", Count: 1}}},
		"a cycle over an odd interval": {
			old: terms{"weekly", catalog.Interval{Unit: "day", Count: 10}}, cycle: text("quarterly"),
			want: terms{"quarterly", catalog.Interval{Unit: "month", Count: 3}},
		},
		"a cycle and a count":          {old: monthly, cycle: text("weekly"), count: count(2), want: terms{"weekly", catalog.Interval{Unit: "week", Count: 2}}},
		"a cycle and a unit":           {old: monthly, cycle: text("quarterly"), unit: text("week"), want: terms{"quarterly", catalog.Interval{Unit: "week", Count: 3}}},
		"a cycle and another's":        {old: monthly, cycle: text("weekly"), unit: text("year"), count: count(1), want: terms{"yearly", catalog.Interval{Unit: "year", Count: 1}}},
		"a unit with a name":           {old: monthly, unit: text("week"), want: terms{"weekly", catalog.Interval{Unit: "week", Count: 1}}},
		"a unit without one":           {old: monthly, unit: text("day"), want: terms{"monthly", catalog.Interval{Unit: "day", Count: 1}}},
		"a count with a name":          {old: monthly, count: count(3), want: terms{"quarterly", catalog.Interval{Unit: "month", Count: 3}}},
		"a count without one":          {old: monthly, count: count(12), want: terms{"monthly", catalog.Interval{Unit: "month", Count: 12}}},
		"a unit and a count":           {old: monthly, unit: text("year"), count: count(1), want: terms{"yearly", catalog.Interval{Unit: "year", Count: 1}}},
		"two years keep the old cycle": {old: monthly, unit: text("year"), count: count(2), want: terms{"monthly", catalog.Interval{Unit: "year", Count: 2}}},
		"back to a named interval": {
			old: terms{"yearly", catalog.Interval{Unit: "month", Count: 7}}, count: count(1), want: monthly,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := catalog.Plan{BillingCycle: tt.old.Cycle, Interval: tt.old.Interval}
			p.SetInterval(tt.cycle, tt.unit, tt.count)
			if diff := cmp.Diff(tt.want, terms{p.BillingCycle, p.Interval}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Setting the same interval again changes nothing. A plan with only a billing cycle has the
// interval of its cycle.
func TestSetIntervalAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p catalog.Plan
		cycles := rapid.SampledFrom(catalog.BillingCycles())
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			cycle := cycles.Draw(t, "cycle")
			p.SetInterval(&cycle, nil, nil)
		}
		if interval, ok := catalog.CycleInterval(p.BillingCycle); !ok || p.Interval != interval {
			t.Fatalf("%s is %v", p.BillingCycle, p.Interval)
		}
		unit := rapid.SampledFrom([]string{"day", "week", "month", "year"}).Draw(t, "unit")
		count := rapid.Int32Range(1, 40).Draw(t, "count")
		p.SetInterval(nil, &unit, &count)
		once := p
		p.SetInterval(nil, &unit, &count)
		if p.BillingCycle != once.BillingCycle || p.Interval != once.Interval || p.Interval != (catalog.Interval{Unit: unit, Count: count}) {
			t.Fatalf("%v, then %v", once, p)
		}
		for _, cycle := range catalog.BillingCycles() {
			if named, _ := catalog.CycleInterval(cycle); named == p.Interval && p.BillingCycle != cycle {
				t.Fatalf("%v is %s, want %s", p.Interval, cycle, p.BillingCycle)
			}
		}
	})
}

// A change affects only the given locales.
func TestTextWith(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	old := catalog.Text{"en": "A", "fr": "B"}
	for name, tt := range map[string]struct {
		old     catalog.Text
		changes map[string]*string
		want    catalog.Text
	}{
		"nothing":          {old, nil, catalog.Text{"en": "A", "fr": "B"}},
		"one":              {old, map[string]*string{"fr": text("C")}, catalog.Text{"en": "A", "fr": "C"}},
		"a new one":        {old, map[string]*string{"es": text("D")}, catalog.Text{"en": "A", "fr": "B", "es": "D"}},
		"null removes":     {old, map[string]*string{"fr": nil}, catalog.Text{"en": "A"}},
		"empty removes":    {old, map[string]*string{"fr": text("")}, catalog.Text{"en": "A"}},
		"unknown language": {old, map[string]*string{"it": nil}, catalog.Text{"en": "A", "fr": "B"}},
		"all":              {old, map[string]*string{"en": nil, "fr": text("")}, nil},
		"from none":        {nil, map[string]*string{"en": text("A")}, catalog.Text{"en": "A"}},
		"none from none":   {nil, map[string]*string{"en": nil}, nil},
		"neither of these": {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.old.With(tt.changes)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if len(old) != 2 || old["fr"] != "B" {
		t.Errorf("the old text has changed: %v", old)
	}
	for locale, want := range map[string]string{"en": "A", "fr": "B", "es": "A", "": "A", "FR": "A"} {
		if got := old.Localize(locale); got != want {
			t.Errorf("in %q: %q", locale, got)
		}
	}
	if got := (catalog.Text{"en": "A", "fr": ""}).Localize("fr"); got != "A" {
		t.Errorf("an empty translation: %q", got)
	}
}
