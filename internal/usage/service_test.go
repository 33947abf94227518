package usage

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func TestRecordAggregates(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		tests := []struct {
			meter    Meter
			recorded []Recording
			want     string
		}{
			{meter("sum", Sum, Monthly, Hard), []Recording{recording("sum", "1.5"), recording("sum", "0"), recording("sum", "0.000001")}, "1.500001"},
			{meter("count", Count, Weekly, Soft), []Recording{recording("count", "7"), recording("count", "0"), recording("count", "0.5")}, "3"},
			{meter("max", Max, Daily, Unenforced), []Recording{recording("max", "7"), recording("max", "9.25"), recording("max", "8")}, "9.25"},
			{meter("last", LastValue, Never, Hard), []Recording{recording("last", "7"), recording("last", "9"), recording("last", "8")}, "8"},
			{meter("late", LastValue, Monthly, Hard), []Recording{recording("late", "7"), recording("late", "9").on("2026-11-21 11:59")}, "7"},
			{meter("ahead", LastValue, Monthly, Hard), []Recording{recording("ahead", "7").on("2026-11-21 12:05"), recording("ahead", "9")}, "7"},
			{meter("unused", Sum, Monthly, Hard), nil, "0"},
		}
		for _, tt := range tests {
			tenantID := w.newTenant(t)
			w.apply(t, tt.meter)
			for _, r := range tt.recorded {
				event, err := w.Record(t.Context(), tenantID, r)
				if err != nil {
					t.Fatalf("%s: %v", tt.meter.Code, err)
				}
				if event.ID == uuid.Nil || event.MeterCode != tt.meter.Code || event.Quantity != r.Quantity {
					t.Errorf("%s: stored %v", tt.meter.Code, event)
				}
				if r.RecordedAt == nil && !event.RecordedAt.Equal(w.clock.Now()) {
					t.Errorf("%s: recorded at %v", tt.meter.Code, event.RecordedAt)
				}
			}
			if got := w.detail(t, tenantID, tt.meter.Code).Current.String(); got != tt.want {
				t.Errorf("%s shows %s, want %s", tt.meter.Code, got, tt.want)
			}
		}
	})
}

func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		inactive := meter("inactive", Sum, Monthly, Hard)
		inactive.Active = false
		w.apply(t, inactive, meter("hard", Sum, Monthly, Hard), meter("soft", Sum, Monthly, Soft), meter("none", Sum, Monthly, Unenforced), meter("other", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"hard": 10, "soft": 10, "none": 10}})

		steps := []struct {
			name string
			Recording
			want error
		}{
			{"unknown meter", recording("nowhere", "1"), ErrUnknownMeter},
			{"inactive meter", recording("inactive", "1"), ErrUnknownMeter},
			{"too far ahead, before the meter is looked at", recording("nowhere", "1").on("2026-11-21 12:05:00.000001"), errInFuture},
			{"just not too far ahead", recording("other", "1").on("2026-11-21 12:05"), nil},
			{"over the quota", recording("hard", "10.5").keyed("a"), ErrQuotaExceeded},
			{"a refused key is not used", recording("hard", "10").keyed("a"), nil},
			{"duplicate, even at the limit", recording("hard", "10").keyed("a"), ErrDuplicate},
			{"duplicate with another content", recording("hard", "0").keyed("a").on("2025-01-01"), ErrDuplicate},
			{"at the limit", recording("hard", "1").keyed("b"), ErrQuotaExceeded},
			{"keys are case-sensitive", recording("hard", "0").keyed("A"), nil},
			{"the same key on another meter", recording("soft", "1").keyed("a"), nil},
			{"soft meters never refuse", recording("soft", "100"), nil},
			{"none meters never refuse", recording("none", "100"), nil},
			{"a meter without entitlement is unlimited", recording("other", "1000000000000"), nil},
			{"an earlier period has a count of its own", recording("hard", "10").on("2026-10-31"), nil},
			{"and the same limit", recording("hard", "0.1").on("2026-10-31"), ErrQuotaExceeded},
		}
		stored := 0
		for _, step := range steps {
			_, err := w.Record(t.Context(), tenantID, step.Recording)
			//nolint:errorlint // field errors are themselves, not equal refusals
			if err != step.want {
				t.Errorf("%s: got %v, want %v", step.name, err, step.want)
			}
			if step.want == nil {
				stored++
			}
			if got := w.count(t, tenantID); got != stored {
				t.Fatalf("%s: %d events stored, want %d", step.name, got, stored)
			}
		}

		neighbour := w.newTenant(t)
		if _, err := w.Record(t.Context(), neighbour, recording("hard", "1").keyed("a")); err != nil {
			t.Errorf("another tenant's key: %v", err)
		}
		if _, err := w.Record(t.Context(), uuid.New(), recording("hard", "1")); err == nil || errors.As(err, new(*fault.Error)) {
			t.Errorf("a tenant that does not exist: got %v, want an accident", err)
		}
	})
}

func TestRecordRefusesTotalsThatDoNotFit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("bytes", Sum, Never, Soft))
		tenantID := w.newTenant(t)
		for range 9 {
			if _, err := w.Record(t.Context(), tenantID, recording("bytes", "1000000000000")); err != nil {
				t.Fatal(err)
			}
		}
		_, err := w.Record(t.Context(), tenantID, recording("bytes", "1000000000000"))
		if err != errTotalTooLarge { //nolint:errorlint // a field error is itself
			t.Fatalf("got %v, want %v", err, errTotalTooLarge)
		}
		if got := w.detail(t, tenantID, "bytes").Current; got != 9*quantity("1e12") {
			t.Errorf("shows %s", got)
		}
		// A view of the same events that cannot be represented stops at the largest.
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE usage_events SET quantity = $1`, int64(math.MaxInt64/2)); err != nil {
			t.Fatal(err)
		}
		w.apply(t, meter("bytes", Count, Never, Soft))
		w.apply(t, meter("bytes", Sum, Never, Soft))
		if got := w.detail(t, tenantID, "bytes").Current; got != math.MaxInt64 {
			t.Errorf("shows %s", got)
		}
	})
}

// Periods change with the subscription. Every counter stays what its events come
// to, those that are not shown at the moment too.
func TestCountersFollowTheSubscription(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-05")
		w.apply(t, meter("calls", Sum, Monthly, Hard), meter("disk", LastValue, Monthly, Hard))
		tenantID := w.newTenant(t)
		record := func(amount string) {
			t.Helper()
			for _, code := range []string{"calls", "disk"} {
				if _, err := w.Record(t.Context(), tenantID, recording(code, amount)); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := func(calls, disk string, p Period) {
			t.Helper()
			for code, want := range map[string]string{"calls": calls, "disk": disk} {
				d := w.detail(t, tenantID, code)
				if d.Current.String() != want || !d.Period.equal(p) {
					t.Errorf("%s shows %s in %v, want %s in %v", code, d.Current, d.Period, want, p)
				}
			}
		}
		november := period("2026-11-01", "2026-12-01")
		record("1")
		want("1", "1", november)

		w.clock.Set(at("2026-11-10"))
		w.plans.grant(tenantID, Allowance{Billing: billing("2026-11-10", Month, 1, "2026-11-10", "2026-12-10")})
		want("0", "0", period("2026-11-10", "2026-12-10"))
		record("20")
		want("20", "20", period("2026-11-10", "2026-12-10"))
		if _, err := w.Record(t.Context(), tenantID, recording("calls", "300").on("2026-11-09")); err != nil {
			t.Fatal(err)
		}
		want("20", "20", period("2026-11-10", "2026-12-10"))

		w.clock.Set(at("2026-11-12"))
		w.plans.grant(tenantID, Allowance{})
		want("321", "20", november)
		record("4000")
		want("4321", "4000", november)

		w.clock.Set(at("2026-11-13"))
		w.plans.grant(tenantID, Allowance{Billing: billing("2026-11-11", Week, 1, "2026-11-11", "2026-11-18")})
		want("4000", "4000", period("2026-11-11", "2026-11-18"))
		w.clock.Set(at("2026-11-18"))
		want("0", "0", period("2026-11-18", "2026-11-25"))
	})
}

func TestApplyMeters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		first := meter("calls", Sum, Monthly, Hard)
		w.apply(t, first)
		w.apply(t, first)
		tenantID := w.newTenant(t)
		for _, amount := range []string{"2", "5"} {
			if _, err := w.Record(t.Context(), tenantID, recording("calls", amount)); err != nil {
				t.Fatal(err)
			}
		}
		before := w.detail(t, tenantID, "calls")
		changed := Meter{Code: "calls", Name: "API calls", Aggregation: Max, Reset: Never, Enforcement: Soft, UnitLabel: ptr("calls")}
		w.apply(t, changed)
		after := w.detail(t, tenantID, "calls")
		changed.ID = before.Meter.ID
		if diff := cmp.Diff(changed, after.Meter); diff != "" {
			t.Errorf("meter (-want +got)\n%s", diff)
		}
		if before.Current != quantity("7") || after.Current != quantity("5") {
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
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("b", Sum, Daily, Hard), meter("a", Count, Monthly, Soft), meter("c", Sum, Never, Hard))
		tenantID := w.newTenant(t)
		w.plans.grant(tenantID, Allowance{Billing: billing("2026-01-15", Year, 1, "2026-01-15", "2027-01-15"), Limits: map[string]int64{"b": 30}})
		for i := range 25 {
			r := recording("b", "1").on("2026-11-21 10:00")
			at := r.RecordedAt.Add(time.Duration(i%5) * time.Minute)
			r.RecordedAt = &at
			r.Metadata = sqldb.JSON(fmt.Sprintf(`{"n": %d}`, i))
			if _, err := w.Record(t.Context(), tenantID, r); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Record(t.Context(), tenantID, recording("b", "5").on("2026-11-20 23:59")); err != nil {
			t.Fatal(err)
		}

		s, err := w.Summary(t.Context(), tenantID)
		if err != nil {
			t.Fatal(err)
		}
		if want := period("2026-11-15", "2026-12-15"); s.TenantID != tenantID || !s.Period.equal(want) {
			t.Errorf("summary of %v in %v", s.TenantID, s.Period)
		}
		var lines []string
		for _, r := range s.Readings {
			lines = append(lines, fmt.Sprint(r.Meter.Code, " ", r.Current, " ", r.Status()))
		}
		if diff := cmp.Diff([]string{"a 0 ok", "b 25 warning", "c 0 ok"}, lines); diff != "" {
			t.Errorf("readings (-want +got)\n%s", diff)
		}

		d := w.detail(t, tenantID, "b")
		if len(d.Events) != recentEvents {
			t.Fatalf("%d events", len(d.Events))
		}
		// Newest first: minute 4 down to 1, of each the one stored last first.
		for i, e := range d.Events {
			minute, round := 4-i/5, 4-i%5
			want := fmt.Sprintf(`{"n": %d}`, round*5+minute)
			if string(e.Metadata) != want || !e.RecordedAt.Equal(at("2026-11-21 10:00").Add(time.Duration(minute)*time.Minute)) {
				t.Errorf("event %d is %s of %v, want %s", i, e.Metadata, e.RecordedAt, want)
			}
		}

		for _, code := range []string{"nowhere", "", "a\x00", "\xff"} {
			if _, err := w.Detail(t.Context(), tenantID, code); !errors.Is(err, errNoSuchMeter) {
				t.Errorf("detail of %q: %v", code, err)
			}
		}
	})
}
