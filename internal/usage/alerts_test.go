package usage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// raised lists a tenant's alerts in the order in which they were raised, as
// "meter threshold current".
func (w *world) raised(t interface{ Fatal(...any) }, tenantID uuid.UUID) []string {
	alerts := []string{}
	err := w.store.each(context.Background(), `SELECT m.code, a.threshold, a.value FROM usage_alerts a JOIN meters m ON m.id = a.meter_id
WHERE a.tenant_id = $1 ORDER BY a.id`, []any{tenantID}, func(scan func(...any) error) error {
		var code string
		var threshold int
		var value money.Quantity
		err := scan(&code, &threshold, (*int64)(&value))
		alerts = append(alerts, fmt.Sprint(code, " ", threshold, " ", value))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return alerts
}

func TestSoftQuotasAlertOncePerPeriodAndThreshold(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		tests := []struct {
			name   string
			meter  Meter
			events []Recording
			want   []string
		}{
			{"below", meter("below", Sum, Monthly, Soft), []Recording{recording("below", "7.999999")}, nil},
			{"at 80, then 100", meter("both", Sum, Monthly, Soft), []Recording{
				recording("both", "8"), recording("both", "1"), recording("both", "1"), recording("both", "5"),
			}, []string{"both 80 8", "both 100 10"}},
			{"a jump", meter("jump", Sum, Monthly, Soft), []Recording{recording("jump", "25"), recording("jump", "1")}, []string{"jump 100 25"}},
			{"a jump from above 80", meter("from-80", Sum, Monthly, Soft), []Recording{
				recording("from-80", "9"), recording("from-80", "25"),
			}, []string{"from-80 80 9", "from-80 100 34"}},
			{"count", meter("count", Count, Weekly, Soft), slices.Repeat([]Recording{recording("count", "0")}, 12), []string{"count 80 8", "count 100 10"}},
			{"max", meter("max", Max, Daily, Soft), []Recording{
				recording("max", "9"), recording("max", "8"), recording("max", "12"), recording("max", "13"),
			}, []string{"max 80 9", "max 100 12"}},
			{"a level that falls and rises", meter("level", LastValue, Never, Soft), []Recording{
				recording("level", "10"), recording("level", "1"), recording("level", "9"), recording("level", "11"),
			}, []string{"level 100 10"}},
			{"a level that is older than the last", meter("older", LastValue, Monthly, Soft), []Recording{
				recording("older", "1"), recording("older", "20").on("2026-11-20"),
			}, nil},
			{"usage of the past", meter("past", Sum, Monthly, Soft), []Recording{recording("past", "50").on("2026-10-31")}, nil},
			{"a hard quota", meter("hard", Sum, Monthly, Hard), []Recording{recording("hard", "10")}, nil},
			{"no enforcement", meter("none", Sum, Monthly, Unenforced), []Recording{recording("none", "50")}, nil},
			{"no quota", meter("unlimited", Sum, Monthly, Soft), []Recording{recording("unlimited", "50")}, nil},
		}
		for _, together := range []bool{false, true} {
			for _, tt := range tests {
				w.apply(t, tt.meter)
				tenantID := w.newTenant(t)
				limits := map[string]int64{tt.meter.Code: 10}
				delete(limits, "unlimited")
				w.plans.grant(tenantID, Allowance{Limits: limits})
				w.recordAll(t, tenantID, tt.events, together)
				want := append([]string{}, tt.want...)
				if diff := cmp.Diff(want, w.raised(t, tenantID)); diff != "" {
					t.Errorf("%s, in one batch: %v (-want +got)\n%s", tt.name, together, diff)
				}
			}
		}
	})
}

// recordAll records events one after the other or in one batch.
func (w *world) recordAll(t *testing.T, tenantID uuid.UUID, events []Recording, together bool) {
	t.Helper()
	var outcomes []Outcome
	if together {
		var err error
		if outcomes, err = w.RecordBatch(t.Context(), tenantID, events); err != nil {
			t.Fatal(err)
		}
	} else {
		for _, r := range events {
			event, err := w.Record(t.Context(), tenantID, r)
			outcomes = append(outcomes, Outcome{event, err})
		}
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
}

func TestSoftQuotasAlertAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Daily, Soft), meter("other", Sum, Daily, Soft))
		tenantID := w.newTenant(t)
		w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"calls": 10, "other": 10}})
		w.recordAll(t, tenantID, []Recording{recording("calls", "10"), recording("calls", "1"), recording("other", "8")}, false)
		w.clock.Set(at("2026-11-22"))
		w.recordAll(t, tenantID, []Recording{recording("calls", "9"), recording("calls", "1").keyed("k")}, false)
		if _, err := w.Record(t.Context(), tenantID, recording("calls", "1").keyed("k")); err == nil {
			t.Fatal("no duplicate")
		}
		// A plan with more changes nothing for a period that was told of; one with
		// less tells with the next event.
		w.clock.Set(at("2026-11-23"))
		w.recordAll(t, tenantID, []Recording{recording("other", "1")}, false)
		w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"other": 1}})
		w.recordAll(t, tenantID, []Recording{recording("other", "0")}, false)
		w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"other": 100}})
		w.recordAll(t, tenantID, []Recording{recording("other", "200")}, false)
		want := []string{"calls 100 10", "other 80 8", "calls 80 9", "calls 100 10", "other 100 1"}
		if diff := cmp.Diff(want, w.raised(t, tenantID)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// Whoever reaches a threshold at the same time, through whatever instance, raises
// one alert.
func TestSoftQuotasAlertOnceUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Monthly, Soft))
		for range dbtest.Rounds(3, 30) {
			tenantID := w.newTenant(t)
			w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"calls": 50}})
			stored, _, _ := race(t, w, 100, func(int) uuid.UUID { return tenantID }, func(int) Recording { return recording("calls", "1") })
			if diff := cmp.Diff([]string{"calls 80 40", "calls 100 50"}, w.raised(t, tenantID)); stored != 100 || diff != "" {
				t.Fatalf("%d stored (-want +got)\n%s", stored, diff)
			}
		}
	})
}

// An alert is sent once, however often its job runs, and not at all when the
// event was not stored.
func TestAlertsAreSentOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		label := "calls"
		soft := meter("calls", Sum, Monthly, Soft)
		soft.UnitLabel = &label
		w.apply(t, soft)
		tenantID := w.newTenant(t)
		w.plans.grant(tenantID, Allowance{Limits: map[string]int64{"calls": 10}})
		w.recordAll(t, tenantID, []Recording{recording("calls", "9.5")}, false)
		var payload string
		if err := db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT payload FROM jobs WHERE kind = 'usage.alert'`).Scan(&payload); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := w.sendAlert(t.Context(), jobs.Job{Kind: jobAlert, Payload: []byte(payload)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		soft.ID = w.detail(t, tenantID, "calls").Meter.ID
		want := []Alert{{TenantID: tenantID, Meter: soft, Period: period("2026-11-01", "2026-12-01"), Threshold: 80, Current: quantity("9.5"), Limit: 10}}
		for i := range w.alerts.sent {
			w.alerts.sent[i].ID = uuid.Nil
		}
		if diff := cmp.Diff(want, w.alerts.sent); diff != "" {
			t.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}
