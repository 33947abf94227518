package usage_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// A purchase is granted once, even if it is reported several times and concurrently.
func TestPurchaseIsGrantedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				err := w.Instances[i%2].GrantPurchase(t.Context(), purchase(tenantID, "calls", "10", nil))
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := w.GrantsRemaining(t, tenantID, "calls"); got != usagetest.Total("10") {
			t.Errorf("%s remain", got)
		}
	})
}

// The remaining units of a refunded purchase are voided, and the purchase is not granted again.
func TestRefundedPurchaseIsVoid(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		for _, step := range []func() error{
			func() error { return w.VoidPurchase(t.Context(), tenantID, "cs_1") },
			func() error { return w.GrantPurchase(t.Context(), purchase(tenantID, "calls", "10", nil)) },
			func() error { return w.SetPurchaseInvoice(t.Context(), tenantID, "cs_1", uuid.New()) },
			func() error { return w.VoidPurchase(t.Context(), tenantID, "cs_1") },
			func() error { return w.GrantPurchase(t.Context(), purchase(tenantID, "calls", "10", nil)) },
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.GrantsRemaining(t, tenantID, "calls"); got != usagetest.Total("0") {
			t.Errorf("%s remain", got)
		}
	})
}

// purchase returns the purchase of an amount in the session cs_1.
func purchase(tenantID uuid.UUID, code, amount string, expiresAt *time.Time) usage.PurchasedGrant {
	return usage.PurchasedGrant{
		TenantID: tenantID, FeatureCode: code, Amount: usagetest.Total(amount), ExpiresAt: expiresAt, Pack: "pack", SessionID: "cs_1",
	}
}

// give grants units to a tenant, each time in a new checkout session.
func give(t *testing.T, w *usagetest.World, tenantID uuid.UUID, code, amount string, expiresAt *time.Time) {
	t.Helper()
	p := purchase(tenantID, code, amount, expiresAt)
	p.SessionID = uuid.NewString()
	if err := w.GrantPurchase(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// record records an event and checks the error.
func record(t *testing.T, w *usagetest.World, tenantID uuid.UUID, r usage.Recording, want error) {
	t.Helper()
	if _, err := w.Record(t.Context(), tenantID, r); !errors.Is(err, want) {
		t.Fatalf("recording %s of %s: got %v, want %v", r.Quantity, r.MeterCode, err, want)
	}
}

// wantRemaining checks the remaining units of valid grants.
func wantRemaining(t *testing.T, w *usagetest.World, tenantID uuid.UUID, code, want string) {
	t.Helper()
	if got := w.GrantsRemaining(t, tenantID, code); got != usagetest.Total(want) {
		t.Errorf("%s: %s remain, want %s", code, got, want)
	}
	if got := w.Detail(t, tenantID, code).GrantsRemaining; got != usagetest.Total(want) {
		t.Errorf("%s: the quota row shows %s, want %s", code, got, want)
	}
}

// On a hard meter, an event draws only the units that the limit does not cover. If the limit and
// the grants together do not cover the event, the whole event is rejected.
func TestHardMetersDraw(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 10}})
		give(t, w, tenantID, "calls", "5", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "8"), nil)
		wantRemaining(t, w, tenantID, "calls", "5")
		record(t, w, tenantID, usagetest.Recording("calls", "7.000001"), usage.ErrQuotaExceeded)
		wantRemaining(t, w, tenantID, "calls", "5")
		record(t, w, tenantID, usagetest.Recording("calls", "3.5"), nil)
		wantRemaining(t, w, tenantID, "calls", "3.5")
		record(t, w, tenantID, usagetest.Recording("calls", "3.5"), nil)
		wantRemaining(t, w, tenantID, "calls", "0")
		record(t, w, tenantID, usagetest.Recording("calls", "0.000001"), usage.ErrQuotaExceeded)
		if d := w.Detail(t, tenantID, "calls"); d.Current != usagetest.Total("15") || d.Granted != usagetest.Total("5") || d.Rejected != 2 {
			t.Errorf("%s used, %s granted, %d rejected", d.Current, d.Granted, d.Rejected)
		}
		// A higher limit leaves room for more events without grants.
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 12}})
		record(t, w, tenantID, usagetest.Recording("calls", "2"), nil)
		record(t, w, tenantID, usagetest.Recording("calls", "1"), usage.ErrQuotaExceeded)
		// The next window has its whole limit. Late events count in the window of their time.
		w.Clock.Set(w.Clock.Now().Add(day))
		give(t, w, tenantID, "calls", "1", nil)
		record(t, w, tenantID, usagetest.RecordedAt(usagetest.Recording("calls", "1"), "2026-11-21 23:00"), nil)
		wantRemaining(t, w, tenantID, "calls", "0")
		record(t, w, tenantID, usagetest.Recording("calls", "12"), nil)
		record(t, w, tenantID, usagetest.Recording("calls", "1"), usage.ErrQuotaExceeded)
		if wrong := w.Recount(t); wrong != 0 {
			t.Errorf("%d counters are wrong", wrong)
		}
	})
}

// On soft and unenforced meters, usage above the limit draws from grants until they are used up.
// Without a limit, nothing is drawn.
func TestOtherMetersDraw(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		limited := w.NewTenant(t)
		unlimited := w.NewTenant(t)
		w.Plans.Grant(limited, usage.Allowance{Limits: map[string]int64{"soft": 2, "none": 2}})
		for code, e := range map[string]usage.Enforcement{"soft": usage.EnforcementSoft, "none": usage.EnforcementUnenforced} {
			w.Apply(t, usagetest.Meter(code, usage.Count, usage.ResetDaily, e))
			give(t, w, limited, code, "1.5", nil)
			give(t, w, unlimited, code, "1.5", nil)
			for range 2 {
				record(t, w, limited, usagetest.Recording(code, "7"), nil)
			}
			wantRemaining(t, w, limited, code, "1.5")
			for _, left := range []string{"0.5", "0", "0"} {
				record(t, w, limited, usagetest.Recording(code, "7"), nil)
				wantRemaining(t, w, limited, code, left)
			}
			record(t, w, unlimited, usagetest.Recording(code, "7"), nil)
			wantRemaining(t, w, unlimited, code, "1.5")
		}
		// A grant does not cover usage that was above the limit before.
		for range 5 {
			record(t, w, limited, usagetest.Recording("soft", "1"), nil)
		}
		give(t, w, limited, "soft", "3", nil)
		record(t, w, limited, usagetest.Recording("soft", "1"), nil)
		wantRemaining(t, w, limited, "soft", "2")
	})
}

// On a meter that the plan bills, events draw from grants from the first unit on, even without a
// limit, but not in a trial. Drawn units are not reported.
func TestBilledMetersDrawFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "100")
		tenantID := w.NewTenant(t)
		a := usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10"), BillsUsage: true, IsTrial: true, Currency: "EUR"}
		w.Plans.Grant(tenantID, a)
		give(t, w, tenantID, "calls", "5", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "1"), nil)
		wantRemaining(t, w, tenantID, "calls", "5")
		a.IsTrial = false
		w.Plans.Grant(tenantID, a)
		record(t, w, tenantID, usagetest.Recording("calls", "2"), nil)
		wantRemaining(t, w, tenantID, "calls", "3")
		record(t, w, tenantID, usagetest.Recording("calls", "4"), nil)
		wantRemaining(t, w, tenantID, "calls", "0")
		a.Limits = map[string]int64{"calls": 3}
		w.Plans.Grant(tenantID, a)
		give(t, w, tenantID, "calls", "1", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "2.5"), usage.ErrQuotaExceeded) // 2 of 3 units are used without grants
		record(t, w, tenantID, usagetest.Recording("calls", "2"), nil)
		e, err := w.Estimator().Estimate(t.Context(), tenantID)
		if err != nil {
			t.Fatal(err)
		}
		lines := []string{}
		for _, l := range e.Lines {
			lines = append(lines, fmt.Sprint(l.Quantity, " at ", l.UnitPrice, " is ", l.Amount.AmountCents))
		}
		if diff := cmp.Diff([]string{"3 at 100 is 300", "6 at 0 is 0"}, lines); diff != "" || e.Total.AmountCents != 300 {
			t.Errorf("the estimate (-want +got)\n%s", diff)
		}
		if got := w.Detail(t, tenantID, "calls"); *got.UnitPrice != e.Lines[0].UnitPrice || got.Currency != "EUR" {
			t.Errorf("the price is %s %s", got.UnitPrice, got.Currency)
		}
	})
}

// Events draw from the lowest priority number first, then from the earliest expiry, then from the
// oldest grant. A grant that has not started or has expired is not used.
func TestOrderOfGrants(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 0}})
		for _, name := range []string{"never", "never, younger", "late", "soon", "first"} {
			p := purchase(tenantID, "calls", "2", map[string]*time.Time{
				"late": new(usagetest.At("2026-11-23")), "soon": new(usagetest.At("2026-11-22")), "first": new(usagetest.At("2026-11-24")),
			}[name])
			p.SessionID, p.Pack = name, name
			if err := w.GrantPurchase(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			w.Clock.Set(w.Clock.Now().Add(time.Minute))
		}
		exec(t, db, `UPDATE usage_grants SET priority = 10 WHERE pack = 'first'`)
		give(t, w, tenantID, "calls", "2", nil)
		exec(t, db, `UPDATE usage_grants SET starts_at = $1 WHERE pack = 'pack'`, usagetest.At("2026-11-25"))
		order := []string{"first", "soon", "late", "never", "never, younger"}
		for i, name := range order {
			record(t, w, tenantID, usagetest.Recording("calls", "1.5"), nil)
			if got := emptyPacks(t, w); !slices.Equal(got, order[:i]) {
				t.Errorf("used up: %v, want %v", got, order[:i])
			}
			record(t, w, tenantID, usagetest.Recording("calls", "0.5"), nil)
			if got := emptyPacks(t, w); !slices.Contains(got, name) || len(got) != i+1 {
				t.Errorf("used up: %v, want %s last", got, name)
			}
		}
		record(t, w, tenantID, usagetest.Recording("calls", "1"), usage.ErrQuotaExceeded)
		w.Clock.Set(usagetest.At("2026-11-25"))
		record(t, w, tenantID, usagetest.Recording("calls", "1"), nil)
		give(t, w, tenantID, "calls", "2", new(usagetest.At("2026-11-25 01:00")))
		wantRemaining(t, w, tenantID, "calls", "3")
		w.Clock.Set(usagetest.At("2026-11-25 01:00"))
		wantRemaining(t, w, tenantID, "calls", "1")
		record(t, w, tenantID, usagetest.Recording("calls", "2"), usage.ErrQuotaExceeded)
	})
}

// emptyPacks returns the packs of the grants without remaining units.
func emptyPacks(t *testing.T, w *usagetest.World) (packs []string) {
	t.Helper()
	w.Each(t, `SELECT pack FROM usage_grants WHERE units + millionths = 0 ORDER BY priority, expires_at IS NULL, expires_at, created_at`, nil,
		func(scan func(...any) error) error {
			var pack string
			err := scan(&pack)
			packs = append(packs, pack)
			return err
		})
	return packs
}

func exec(t *testing.T, db *sqldb.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// Concurrent events use up a grant and draw each of its units once.
func TestGrantsUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 20}})
		for range 3 {
			give(t, w, tenantID, "calls", "10.25", nil)
		}
		stored, duplicates, exceeded := w.Race(t, 400,
			func(int) uuid.UUID { return tenantID },
			func(i int) usage.Recording {
				return usagetest.WithKey(usagetest.Recording("calls", "0.25"), strconv.Itoa(i%300))
			})
		if stored != 203 || duplicates+exceeded != 197 { // 50.75 units
			t.Errorf("%d stored, %d duplicates, %d exceeded", stored, duplicates, exceeded)
		}
		wantRemaining(t, w, tenantID, "calls", "0")
		if d := w.Detail(t, tenantID, "calls"); d.Current != usagetest.Total("50.75") || d.Granted != usagetest.Total("30.75") {
			t.Errorf("%s used, %s granted", d.Current, d.Granted)
		}
		if wrong := w.Recount(t); wrong != 0 {
			t.Errorf("%d counters are wrong", wrong)
		}
	})
}

// Drawn units stay drawn when events are deleted, even on a meter that never resets.
func TestGrantedUnitsOfDeletedEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetNever, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 3}})
		give(t, w, tenantID, "calls", "2.5", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "5.5"), nil)
		w.Clock.Set(w.Clock.Now().Add(60 * day))
		w.Prune(t, w.Retention(t.TempDir()))
		exec(t, db, `DELETE FROM usage_counters`)
		give(t, w, tenantID, "calls", "1", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "1.5"), usage.ErrQuotaExceeded)
		record(t, w, tenantID, usagetest.Recording("calls", "1"), nil)
		if d := w.Detail(t, tenantID, "calls"); d.Current != usagetest.Total("6.5") || d.Granted != usagetest.Total("3.5") {
			t.Errorf("%s used, %s granted", d.Current, d.Granted)
		}
		if wrong := w.Recount(t); wrong != 0 {
			t.Errorf("%d counters are wrong", wrong)
		}
	})
}

// An event recorded late for an interrupted window counts in that window and in the current usage,
// but draws from grants only once. Units that were drawn before the interruption do not use up the
// limit.
func TestGrantsInInterruptedWindows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-20 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		before := usagetest.Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10")
		w.Plans.Grant(tenantID, usage.Allowance{Billing: before, Limits: map[string]int64{"calls": 10}})
		give(t, w, tenantID, "calls", "5", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "12"), nil)
		w.Clock.Set(usagetest.At("2026-11-22"))
		after := usagetest.Billing("2026-11-21", usage.Month, 1, "2026-11-21", "2026-12-21")
		after.Former = []usage.FormerBilling{{Billing: *before, Until: usagetest.At("2026-11-21")}}
		w.Plans.Grant(tenantID, usage.Allowance{Billing: after, Limits: map[string]int64{"calls": 11}})
		record(t, w, tenantID, usagetest.Recording("calls", "2"), nil)
		wantRemaining(t, w, tenantID, "calls", "2")
		record(t, w, tenantID, usagetest.RecordedAt(usagetest.Recording("calls", "1"), "2026-11-15"), nil)
		wantRemaining(t, w, tenantID, "calls", "1")
		if d := w.Detail(t, tenantID, "calls"); d.Current != usagetest.Total("15") || d.Granted != usagetest.Total("4") {
			t.Errorf("%s used, %s granted", d.Current, d.Granted)
		}
		record(t, w, tenantID, usagetest.Recording("calls", "2"), usage.ErrQuotaExceeded)
		record(t, w, tenantID, usagetest.RecordedAt(usagetest.Recording("calls", "2"), "2026-11-15"), usage.ErrQuotaExceeded)
		reserving(t, w, tenantID, "calls", "2", "a", usage.ErrQuotaExceeded)
		reserving(t, w, tenantID, "calls", "1", "a", nil)
		// Once the original end of the interrupted window has passed, the current window has its
		// whole limit.
		w.Clock.Set(usagetest.At("2026-12-10"))
		record(t, w, tenantID, usagetest.Recording("calls", "9"), nil)
		wantRemaining(t, w, tenantID, "calls", "1")
		if wrong := w.Recount(t); wrong != 0 {
			t.Errorf("%d counters are wrong", wrong)
		}
	})
}
