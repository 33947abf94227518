package usage_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

func TestRecordAggregates(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		tests := []struct {
			meter    usage.Meter
			recorded []usage.Recording
			want     string
		}{
			{usagetest.Meter("sum", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), []usage.Recording{usagetest.Recording("sum", "1.5"), usagetest.Recording("sum", "0"), usagetest.Recording("sum", "0.000001")}, "1.500001"},
			{usagetest.Meter("count", usage.Count, usage.ResetWeekly, usage.EnforcementSoft), []usage.Recording{usagetest.Recording("count", "7"), usagetest.Recording("count", "0"), usagetest.Recording("count", "0.5")}, "3"},
			{usagetest.Meter("max", usage.Max, usage.ResetDaily, usage.EnforcementUnenforced), []usage.Recording{usagetest.Recording("max", "7"), usagetest.Recording("max", "9.25"), usagetest.Recording("max", "8")}, "9.25"},
			{usagetest.Meter("last", usage.LastValue, usage.ResetNever, usage.EnforcementHard), []usage.Recording{usagetest.Recording("last", "7"), usagetest.Recording("last", "9"), usagetest.Recording("last", "8")}, "8"},
			{usagetest.Meter("late", usage.LastValue, usage.ResetMonthly, usage.EnforcementHard), []usage.Recording{usagetest.Recording("late", "7"), usagetest.RecordedAt(usagetest.Recording("late", "9"), "2026-11-21 11:59")}, "7"},
			{usagetest.Meter("ahead", usage.LastValue, usage.ResetMonthly, usage.EnforcementHard), []usage.Recording{usagetest.RecordedAt(usagetest.Recording("ahead", "7"), "2026-11-21 12:05"), usagetest.Recording("ahead", "9")}, "7"},
			{usagetest.Meter("unused", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), nil, "0"},
		}
		for _, tt := range tests {
			tenantID := w.NewTenant(t)
			w.Apply(t, tt.meter)
			for _, r := range tt.recorded {
				event, err := w.Record(t.Context(), tenantID, r)
				if err != nil {
					t.Fatalf("%s: %v", tt.meter.Code, err)
				}
				if event.ID == uuid.Nil || event.MeterCode != tt.meter.Code || event.Quantity != r.Quantity {
					t.Errorf("%s: stored %v", tt.meter.Code, event)
				}
				if r.RecordedAt == nil && !event.RecordedAt.Equal(w.Clock.Now()) {
					t.Errorf("%s: recorded at %v", tt.meter.Code, event.RecordedAt)
				}
			}
			if got := w.Detail(t, tenantID, tt.meter.Code).Current.String(); got != tt.want {
				t.Errorf("%s shows %s, want %s", tt.meter.Code, got, tt.want)
			}
		}
	})
}

func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		inactive := usagetest.Meter("inactive", usage.Sum, usage.ResetMonthly, usage.EnforcementHard)
		inactive.Active = false
		w.Apply(t, inactive, usagetest.Meter("hard", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("soft", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), usagetest.Meter("none", usage.Sum, usage.ResetMonthly, usage.EnforcementUnenforced), usagetest.Meter("other", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"hard": 10, "soft": 10, "none": 10}})

		steps := []struct {
			name string
			usage.Recording
			want error
		}{
			{"unknown meter", usagetest.Recording("nowhere", "1"), usage.ErrUnknownMeter},
			{"inactive meter", usagetest.Recording("inactive", "1"), usage.ErrUnknownMeter},
			{"too far ahead, before the meter is looked at", usagetest.RecordedAt(usagetest.Recording("nowhere", "1"), "2026-11-21 12:05:00.000001"), usage.ErrInFuture},
			{"just not too far ahead", usagetest.RecordedAt(usagetest.Recording("other", "1"), "2026-11-21 12:05"), nil},
			{"over the quota", usagetest.WithKey(usagetest.Recording("hard", "10.5"), "a"), usage.ErrQuotaExceeded},
			{"a refused key is not used", usagetest.WithKey(usagetest.Recording("hard", "10"), "a"), nil},
			{"duplicate, even at the limit", usagetest.WithKey(usagetest.Recording("hard", "10"), "a"), usage.ErrDuplicate},
			{"duplicate with another content", usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording("hard", "0"), "a"), "2025-01-01"), usage.ErrDuplicate},
			{"at the limit", usagetest.WithKey(usagetest.Recording("hard", "1"), "b"), usage.ErrQuotaExceeded},
			{"keys are case-sensitive", usagetest.WithKey(usagetest.Recording("hard", "0"), "A"), nil},
			{"the same key on another meter", usagetest.WithKey(usagetest.Recording("soft", "1"), "a"), nil},
			{"soft meters never refuse", usagetest.Recording("soft", "100"), nil},
			{"none meters never refuse", usagetest.Recording("none", "100"), nil},
			{"a meter without entitlement is unlimited", usagetest.Recording("other", "1000000000000"), nil},
			{"an earlier period has a count of its own", usagetest.RecordedAt(usagetest.Recording("hard", "10"), "2026-10-31"), nil},
			{"and the same limit", usagetest.RecordedAt(usagetest.Recording("hard", "0.1"), "2026-10-31"), usage.ErrQuotaExceeded},
		}
		stored := 0
		for _, step := range steps {
			_, err := w.Record(t.Context(), tenantID, step.Recording)
			//nolint:errorlint // field errors only equal themselves
			if err != step.want && !errors.Is(err, step.want) {
				t.Errorf("%s: got %v, want %v", step.name, err, step.want)
			}
			if step.want == nil {
				stored++
			}
			if got := w.Count(t, tenantID); got != stored {
				t.Fatalf("%s: %d events stored, want %d", step.name, got, stored)
			}
		}

		neighbour := w.NewTenant(t)
		if _, err := w.Record(t.Context(), neighbour, usagetest.WithKey(usagetest.Recording("hard", "1"), "a")); err != nil {
			t.Errorf("another tenant's key: %v", err)
		}
		if _, err := w.Record(t.Context(), uuid.New(), usagetest.Recording("hard", "1")); err == nil || errors.As(err, new(*fault.Error)) {
			t.Errorf("a tenant that does not exist: got %v, want an internal error", err)
		}
	})
}

func TestRecordRefusesTotalsThatDoNotFit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("bytes", usage.Sum, usage.ResetNever, usage.EnforcementSoft))
		tenantID := w.NewTenant(t)
		// Set the counter directly to three events below the maximum, because no caller could
		// record this much.
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("bytes", "0.000001")}, true)
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		exec(`UPDATE usage_counters SET units = $1`, int64(money.MaxTotal-3_000_000_000_000))
		for _, want := range []string{"999999999999999999.000001", "999999999999999999.999999"} {
			quantity := "1000000000000"
			if want == "999999999999999999.999999" {
				quantity = "0.999998"
			} else {
				w.RecordAll(t, tenantID, slices.Repeat([]usage.Recording{usagetest.Recording("bytes", quantity)}, 2), true)
				quantity = "999999999999"
			}
			w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("bytes", quantity)}, false)
			if got := w.Detail(t, tenantID, "bytes").Current.String(); got != want {
				t.Errorf("shows %s, want %s", got, want)
			}
		}
		_, err := w.Record(t.Context(), tenantID, usagetest.Recording("bytes", "0.000002"))
		if err != usage.ErrTotalTooLarge { //nolint:errorlint // a field error only equals itself
			t.Fatalf("got %v, want %v", err, usage.ErrTotalTooLarge)
		}
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("bytes", "0.000001")}, true)

		// A sum of the events is computed exactly, and a value that is too large stays at the
		// maximum.
		exec(`UPDATE usage_events SET quantity = $1`, int64(math.MaxInt64-1))
		w.Apply(t, usagetest.Meter("bytes", usage.Count, usage.ResetNever, usage.EnforcementSoft))
		w.Apply(t, usagetest.Meter("bytes", usage.Sum, usage.ResetNever, usage.EnforcementSoft))
		if got := w.Detail(t, tenantID, "bytes").Current.String(); got != "55340232221128.654836" { // six times 9,223,372,036,854.775806
			t.Errorf("shows %s", got)
		}
		exec(`UPDATE usage_streams SET pruned_units = $1, pruned_millionths = 0, pruned_events = 1, pruned_highest = 1`, int64(money.MaxTotal))
		w.Apply(t, usagetest.Meter("bytes", usage.Count, usage.ResetNever, usage.EnforcementSoft))
		w.Apply(t, usagetest.Meter("bytes", usage.Sum, usage.ResetNever, usage.EnforcementSoft))
		if got := w.Detail(t, tenantID, "bytes").Current; got != (money.Total{Units: money.MaxTotal}) {
			t.Errorf("shows %s", got)
		}
	})
}

// Periods change with the subscription. Every counter, shown or not, equals the aggregate of its
// events.
func TestCountersFollowTheSubscription(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-05")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("disk", usage.LastValue, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		record := func(amount string) {
			t.Helper()
			for _, code := range []string{"calls", "disk"} {
				if _, err := w.Record(t.Context(), tenantID, usagetest.Recording(code, amount)); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := func(calls, disk string, p usage.Period) {
			t.Helper()
			for code, want := range map[string]string{"calls": calls, "disk": disk} {
				d := w.Detail(t, tenantID, code)
				if d.Current.String() != want || !d.Period.Equal(p) {
					t.Errorf("%s shows %s in %v, want %s in %v", code, d.Current, d.Period, want, p)
				}
			}
		}
		november := usagetest.Period("2026-11-01", "2026-12-01")
		record("1")
		want("1", "1", november)

		w.Clock.Set(usagetest.At("2026-11-10"))
		w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10")})
		want("0", "0", usagetest.Period("2026-11-10", "2026-12-10"))
		record("20")
		want("20", "20", usagetest.Period("2026-11-10", "2026-12-10"))
		if _, err := w.Record(t.Context(), tenantID, usagetest.RecordedAt(usagetest.Recording("calls", "300"), "2026-11-09")); err != nil {
			t.Fatal(err)
		}
		want("20", "20", usagetest.Period("2026-11-10", "2026-12-10"))

		w.Clock.Set(usagetest.At("2026-11-12"))
		w.Plans.Grant(tenantID, usage.Allowance{})
		want("321", "20", november)
		record("4000")
		want("4321", "4000", november)

		w.Clock.Set(usagetest.At("2026-11-13"))
		w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-11-11", usage.Week, 1, "2026-11-11", "2026-11-18")})
		want("4000", "4000", usagetest.Period("2026-11-11", "2026-11-18"))
		w.Clock.Set(usagetest.At("2026-11-18"))
		want("0", "0", usagetest.Period("2026-11-18", "2026-11-25"))
	})
}

func TestApplyMeters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		first := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard)
		w.Apply(t, first)
		w.Apply(t, first)
		tenantID := w.NewTenant(t)
		for _, amount := range []string{"2", "5"} {
			if _, err := w.Record(t.Context(), tenantID, usagetest.Recording("calls", amount)); err != nil {
				t.Fatal(err)
			}
		}
		before := w.Detail(t, tenantID, "calls")
		changed := usage.Meter{Code: "calls", Name: "API calls", Aggregation: usage.Max, Reset: usage.ResetNever, Enforcement: usage.EnforcementSoft, UnitLabel: new("calls")}
		w.Apply(t, changed)
		after := w.Detail(t, tenantID, "calls")
		changed.ID = before.Meter.ID
		if diff := cmp.Diff(changed, after.Meter); diff != "" {
			t.Errorf("meter (-want +got)\n%s", diff)
		}
		if before.Current != usagetest.Total("7") || after.Current != usagetest.Total("5") {
			t.Errorf("showed %s, shows %s", before.Current, after.Current)
		}
		s, err := w.Summary(t.Context(), tenantID)
		if err != nil || len(s.Readings) != 0 {
			t.Errorf("an inactive meter is in the summary: %v %v", s, err)
		}
	})
}

func TestSummaryAndDetail(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("b", usage.Sum, usage.ResetDaily, usage.EnforcementHard), usagetest.Meter("a", usage.Count, usage.ResetMonthly, usage.EnforcementSoft), usagetest.Meter("c", usage.Sum, usage.ResetNever, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-01-15", usage.Year, 1, "2026-01-15", "2027-01-15"), Limits: map[string]int64{"b": 30}})
		for i := range 25 {
			r := usagetest.RecordedAt(usagetest.Recording("b", "1"), "2026-11-21 10:00")
			at := r.RecordedAt.Add(time.Duration(i%5) * time.Minute)
			r.RecordedAt = &at
			r.Metadata = sqldb.JSON(fmt.Sprintf(`{"n": %d}`, i))
			if _, err := w.Record(t.Context(), tenantID, r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Record(t.Context(), tenantID, usagetest.RecordedAt(usagetest.Recording("b", "5"), "2026-11-20 23:59")); err != nil {
			t.Fatal(err)
		}

		s, err := w.Summary(t.Context(), tenantID)
		if err != nil {
			t.Fatal(err)
		}
		if want := usagetest.Period("2026-11-15", "2026-12-15"); s.TenantID != tenantID || !s.Period.Equal(want) {
			t.Errorf("summary of %v in %v", s.TenantID, s.Period)
		}
		var lines []string
		for _, r := range s.Readings {
			lines = append(lines, fmt.Sprint(r.Meter.Code, " ", r.Current, " ", r.Status()))
		}
		if diff := cmp.Diff([]string{"a 0 ok", "b 25 warning", "c 0 ok"}, lines); diff != "" {
			t.Errorf("readings (-want +got)\n%s", diff)
		}

		d := w.Detail(t, tenantID, "b")
		if len(d.Events) != usage.RecentEvents {
			t.Fatalf("%d events", len(d.Events))
		}
		// Newest first: minutes 4 down to 1, and within a minute the event stored last comes first.
		for i, e := range d.Events {
			minute, round := 4-i/5, 4-i%5
			want := fmt.Sprintf(`{"n": %d}`, round*5+minute)
			if string(e.Metadata) != want || !e.RecordedAt.Equal(usagetest.At("2026-11-21 10:00").Add(time.Duration(minute)*time.Minute)) {
				t.Errorf("event %d is %s of %v, want %s", i, e.Metadata, e.RecordedAt, want)
			}
		}

		for _, code := range []string{"nowhere", "", "a\x00", "\xff"} {
			if _, err := w.Service.Detail(t.Context(), tenantID, code); !errors.Is(err, usage.ErrNoSuchMeter) {
				t.Errorf("detail of %q: %v", code, err)
			}
		}
	})
}

// Each verdict counts under its own kind.
func TestVerdictsAreCounted(t *testing.T) {
	t.Parallel()
	got := usage.Tally(nil, usage.ErrDuplicate, usage.ErrQuotaExceeded.With("limit", 1), nil, usage.ErrUnknownMeter)
	if got != [4]int{2, 1, 1, 1} {
		t.Errorf("got %v", got)
	}
}
