package subscription

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

func on(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }

// billed returns a subscription whose billing period begins on a day of November.
func billed(begun int, unit string) Subscription {
	s := Subscription{Status: Active, BillingAnchor: on(begun), IntervalUnit: unit, IntervalCount: 1, CurrentPeriodStart: on(begun)}
	s.CurrentPeriodEnd = s.CurrentPeriodStart.AddDate(0, 1, 0)
	if unit == "year" {
		s.CurrentPeriodEnd = s.CurrentPeriodStart.AddDate(1, 0, 0)
	}
	return s
}

// untils returns when former terms ended, as days of November.
func untils(t *testing.T, text sqldb.JSON) []int {
	t.Helper()
	former, err := entitlement.DecodeFormer(text)
	if err != nil {
		t.Fatal(err)
	}
	days := []int{}
	for _, f := range former {
		days = append(days, f.Until.YearDay()-on(1).YearDay()+1)
	}
	return days
}

func TestNoteFormerTerms(t *testing.T) {
	t.Parallel()
	month := billed(1, "month")
	with := func(s Subscription, change func(*Subscription)) Subscription {
		change(&s)
		return s
	}
	changed := billed(10, "year")
	var err error
	if changed.former, err = noteFormerTerms(month, changed, on(10)); err != nil {
		t.Fatal(err)
	}
	renewed := with(month, func(s *Subscription) {
		s.CurrentPeriodStart, s.CurrentPeriodEnd = s.CurrentPeriodEnd, s.CurrentPeriodEnd.AddDate(0, 1, 0)
	})
	ended := func(s *Subscription) { s.Status = Canceled }
	tests := []struct {
		name        string
		known, next Subscription
		now         time.Time
		want        []int
	}{
		{"nothing changed", month, month, on(5), []int{}},
		{"another price", month, with(month, func(s *Subscription) { s.PriceCents = 7 }), on(5), []int{}},
		{"a renewal", month, renewed, on(31), []int{}},
		{"a longer period", month, with(month, func(s *Subscription) { s.CurrentPeriodEnd = on(60) }), on(5), []int{}},
		{"another cycle", month, billed(10, "year"), on(10), []int{10}},
		{"another anchor", month, billed(10, "month"), on(10), []int{10}},
		{"a second change", changed, with(billed(12, "month"), func(s *Subscription) { s.former = changed.former }), on(12), []int{10, 12}},
		{"a change after a renewal that was missed", month, billed(35, "year"), on(35), []int{35}},
		{"an end", month, with(month, ended), on(20), []int{20}},
		{"an end with the period, heard of later", month, with(month, ended), on(33), []int{31}},
		{"an end in the second of the beginning", month, with(month, ended), on(1), []int{}},
		{"a change and an end, heard of together", month, with(billed(10, "year"), ended), on(20), []int{10, 20}},
		{"long ended", changed, with(changed, ended), on(50), []int{50}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := noteFormerTerms(tt.known, tt.next, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, untils(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if _, err := noteFormerTerms(Subscription{former: sqldb.JSON("?")}, with(month, ended), on(5)); err == nil {
		t.Error("unreadable data is accepted")
	}
}

// A tenant's next subscription inherits the former terms of all earlier ones, once, and begins
// after them.
func TestInheritFormerTerms(t *testing.T) {
	t.Parallel()
	first, second := billed(1, "month"), billed(10, "year")
	ended := first
	ended.Status = Canceled
	var err error
	if first.former, err = noteFormerTerms(first, ended, on(8)); err != nil {
		t.Fatal(err)
	}
	if second.former, err = inheritFormerTerms([]Subscription{first}, second, false); err != nil {
		t.Fatal(err)
	}
	over := second
	over.Status = Canceled
	if over.former, err = noteFormerTerms(second, over, on(15)); err != nil {
		t.Fatal(err)
	}
	third := billed(14, "month") // began at the provider before the second was ended here
	third.CreatedAt = on(15)
	got, err := inheritFormerTerms([]Subscription{over, first}, third, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{8, 14}, untils(t, got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	third.CreatedAt = on(45)
	if got, err := inheritFormerTerms([]Subscription{over, first}, third, false); err != nil || len(untils(t, got)) != 1 {
		t.Errorf("after a month: got %v, %v", untils(t, got), err)
	}
	if got, err := inheritFormerTerms(nil, third, false); err != nil || got != nil {
		t.Errorf("of none: got %s, %v", got, err)
	}
}
