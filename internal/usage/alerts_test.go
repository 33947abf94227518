package usage_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// raised lists a tenant's alerts in the order they were raised, as "meter threshold current".
func raised(t usagetest.TB, w *usagetest.World, tenantID uuid.UUID) []string {
	alerts := []string{}
	w.Each(t, `SELECT m.code, a.threshold, a.units, a.millionths FROM usage_alerts a JOIN meters m ON m.id = a.meter_id
WHERE a.tenant_id = $1 ORDER BY a.id`, []any{tenantID}, func(scan func(...any) error) error {
		var code string
		var threshold int
		var value money.Total
		err := scan(&code, &threshold, &value.Units, &value.Millionths)
		alerts = append(alerts, fmt.Sprint(code, " ", threshold, " ", value))
		return err
	})
	return alerts
}

func TestQuotasAlertOncePerPeriodAndThreshold(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		tests := []struct {
			name   string
			meter  usage.Meter
			events []usage.Recording
			want   []string
		}{
			{"below", usagetest.Meter("below", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{usagetest.Recording("below", "7.999999")}, nil},
			{"at 80, then 100", usagetest.Meter("both", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{
				usagetest.Recording("both", "8"), usagetest.Recording("both", "1"), usagetest.Recording("both", "1"), usagetest.Recording("both", "5"),
			}, []string{"both 80 8", "both 100 10"}},
			{"a jump", usagetest.Meter("jump", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{usagetest.Recording("jump", "25"), usagetest.Recording("jump", "1")}, []string{"jump 100 25"}},
			{"a jump from above 80", usagetest.Meter("from-80", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{
				usagetest.Recording("from-80", "9"), usagetest.Recording("from-80", "25"),
			}, []string{"from-80 80 9", "from-80 100 34"}},
			{"count", usagetest.Meter("count", usage.Count, usage.ResetWeekly, usage.EnforcementSoft), slices.Repeat([]usage.Recording{usagetest.Recording("count", "0")}, 12), []string{"count 80 8", "count 100 10"}},
			{"max", usagetest.Meter("max", usage.Max, usage.ResetDaily, usage.EnforcementSoft), []usage.Recording{
				usagetest.Recording("max", "9"), usagetest.Recording("max", "8"), usagetest.Recording("max", "12"), usagetest.Recording("max", "13"),
			}, []string{"max 80 9", "max 100 12"}},
			{"a level that falls and rises", usagetest.Meter("level", usage.LastValue, usage.ResetNever, usage.EnforcementSoft), []usage.Recording{
				usagetest.Recording("level", "10"), usagetest.Recording("level", "1"), usagetest.Recording("level", "9"), usagetest.Recording("level", "11"),
			}, []string{"level 100 10"}},
			{"a level that is older than the last", usagetest.Meter("older", usage.LastValue, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{
				usagetest.Recording("older", "1"), usagetest.RecordedAt(usagetest.Recording("older", "20"), "2026-11-20"),
			}, nil},
			{"usage of the past", usagetest.Meter("past", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{usagetest.RecordedAt(usagetest.Recording("past", "50"), "2026-10-31")}, nil},
			{"a hard quota", usagetest.Meter("hard", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), []usage.Recording{usagetest.Recording("hard", "10")}, []string{"hard 100 10"}},
			{"no enforcement", usagetest.Meter("none", usage.Sum, usage.ResetMonthly, usage.EnforcementUnenforced), []usage.Recording{usagetest.Recording("none", "50")}, nil},
			{"no quota", usagetest.Meter("unlimited", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft), []usage.Recording{usagetest.Recording("unlimited", "50")}, nil},
		}
		for _, together := range []bool{false, true} {
			for _, tt := range tests {
				w.Apply(t, tt.meter)
				tenantID := w.NewTenant(t)
				limits := map[string]int64{tt.meter.Code: 10}
				delete(limits, "unlimited")
				w.Plans.Grant(tenantID, usage.Allowance{Limits: limits})
				w.RecordAll(t, tenantID, tt.events, together)
				want := append([]string{}, tt.want...)
				if diff := cmp.Diff(want, raised(t, w, tenantID)); diff != "" {
					t.Errorf("%s, in one batch: %v (-want +got)\n%s", tt.name, together, diff)
				}
			}
		}
	})
}

func TestSoftQuotasAlertAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementSoft), usagetest.Meter("other", usage.Sum, usage.ResetDaily, usage.EnforcementSoft))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 10, "other": 10}})
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("calls", "10"), usagetest.Recording("calls", "1"), usagetest.Recording("other", "8")}, false)
		w.Clock.Set(usagetest.At("2026-11-22"))
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("calls", "9"), usagetest.WithKey(usagetest.Recording("calls", "1"), "k")}, false)
		if _, err := w.Record(t.Context(), tenantID, usagetest.WithKey(usagetest.Recording("calls", "1"), "k")); err == nil {
			t.Fatal("no duplicate")
		}
		// Each limit has its own alerts in a period. A plan with a different limit alerts at the
		// next event, and returning to the earlier limit does not alert again.
		w.Clock.Set(usagetest.At("2026-11-23"))
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("other", "1")}, false)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"other": 1}})
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("other", "0")}, false)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"other": 100}})
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("other", "200")}, false)
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("other", "1"), usagetest.Recording("other", "1")}, true)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"other": 1}})
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("other", "1")}, false)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"other": 250}})
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("other", "1"), usagetest.Recording("other", "45"), usagetest.Recording("other", "1")}, false)
		want := []string{
			"calls 100 10", "other 80 8", "calls 80 9", "calls 100 10", "other 100 1",
			"other 100 201", "other 80 205", "other 100 250",
		}
		if diff := cmp.Diff(want, raised(t, w, tenantID)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// Concurrent events that reach a threshold raise a single alert, even across instances.
func TestSoftQuotasAlertOnceUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft))
		for range dbtest.Rounds(3, 30) {
			tenantID := w.NewTenant(t)
			w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 50}})
			stored, _, _ := w.Race(t, 100, func(int) uuid.UUID { return tenantID }, func(int) usage.Recording { return usagetest.Recording("calls", "1") })
			if diff := cmp.Diff([]string{"calls 80 40", "calls 100 50"}, raised(t, w, tenantID)); stored != 100 || diff != "" {
				t.Fatalf("%d stored (-want +got)\n%s", stored, diff)
			}
		}
	})
}

// An alert is sent once, however often its job runs, and not at all if the event was not stored.
func TestAlertsAreSentOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		label := "calls"
		soft := usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementSoft)
		soft.UnitLabel = &label
		w.Apply(t, soft)
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 10}})
		w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("calls", "9.5")}, false)
		var payload string
		if err := db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT payload FROM jobs WHERE kind = 'usage.alert'`).Scan(&payload); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := w.HandleAlert(t.Context(), jobs.Job{Kind: usage.JobAlert, Payload: []byte(payload)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		soft.ID = w.Detail(t, tenantID, "calls").Meter.ID
		want := []usage.Alert{{
			TenantID: tenantID, Meter: soft, MeterNames: map[string]string{"en": "calls"}, Period: usagetest.Period("2026-11-01", "2026-12-01"),
			Threshold: 80, Current: usagetest.Total("9.5"), Limit: 10,
		}}
		for i := range w.Alerts.Sent {
			w.Alerts.Sent[i].ID = uuid.Nil
		}
		if diff := cmp.Diff(want, w.Alerts.Sent); diff != "" {
			t.Errorf("sent (-want +got)\n%s", diff)
		}
	})
}
