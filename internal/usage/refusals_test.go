package usage

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func (w *world) refusals() *Refusals {
	return NewRefusals(w.db, w.clock, audit.New(audit.Deps{DB: w.db, Clock: w.clock}))
}

// refused are the refusals, as "meter quantity: reason", and their ids.
func (w *world) refused(t *testing.T) (lines []string, ids []uuid.UUID) {
	t.Helper()
	err := w.refusals().Each(t.Context(), func(f Refusal) error {
		lines, ids = append(lines, fmt.Sprintf("%s %s: %s", f.MeterCode, f.Quantity, f.Reason)), append(ids, f.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, ids
}

func (w *world) report(t *testing.T, p Biller) {
	t.Helper()
	r := w.reporter(p)
	if err := r.Report(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lag, err := r.Lag(t.Context()); lag != 0 || err != nil {
		t.Errorf("lags by %v, %v", lag, err)
	}
	_, ids := w.refused(t)
	if n, err := r.Refused(t.Context()); int(n) != len(ids) || err != nil {
		t.Errorf("%d refused, %v, want %d", n, err, len(ids))
	}
}

// What the provider will not take holds up nothing, and stays until it is told
// again or given up.
func TestReportKeepsWhatIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.sell(t, meter("calls", Sum, Monthly, Hard), "1")
		w.sell(t, meter("lost", Sum, Monthly, Hard), "1")
		payer, stranger := w.newPayer(t), w.newTenant(t)
		w.recordAll(t, payer, []Recording{
			recording("calls", "1"), recording("calls", "2").on("2026-09-01"), recording("calls", "3"), recording("lost", "4"),
		}, true)
		w.recordAll(t, stranger, []Recording{recording("calls", "9"), recording("lost", "9")}, true) // nobody's to pay
		p := &till{
			fail: func(_ int, u psp.UsageReport) error {
				if u.At.Before(at("2026-10-01")) {
					return fmt.Errorf("too old: %w", psp.ErrRefused)
				}
				return nil
			},
			missing: "mtr_lost",
		}
		w.report(t, p)
		want := []string{"cus calls 1 @ 2026-11-21 12:00:00", "cus calls 3 @ 2026-11-21 12:00:00"}
		if diff := cmp.Diff(want, p.list()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		wantRefused := []string{
			"calls 2: too old: the provider refused the request",
			"lost 4: the linked price price_lost or its meter cannot be read: no such object at the provider",
		}
		lines, ids := w.refused(t)
		sorted := slices.Sorted(slices.Values(lines))
		if diff := cmp.Diff(wantRefused, sorted); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}

		// Told again in vain it is refused again; once the reason is gone, it is taken.
		p.missing = ""
		for _, id := range ids {
			if err := w.refusals().Retry(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if lines, _ := w.refused(t); lines != nil {
			t.Errorf("refused still: %v", lines)
		}
		w.report(t, p)
		want = append(want, "cus lost 4 @ 2026-11-21 12:00:00")
		if diff := cmp.Diff(want, p.list()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		lines, ids = w.refused(t)
		if diff := cmp.Diff(wantRefused[:1], lines); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if err := w.refusals().Discard(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		for _, decide := range []func() error{
			func() error { return w.refusals().Discard(t.Context(), ids[0]) },
			func() error { return w.refusals().Retry(t.Context(), ids[0]) },
		} {
			if err := decide(); !errors.Is(err, ErrNotRefused) {
				t.Errorf("decided twice: %v", err)
			}
		}
		w.report(t, p)
		if len(p.counted) != len(want) {
			t.Errorf("told of what was given up: %v", p.list())
		}
		entries := 0
		err := w.store.each(t.Context(), `SELECT action FROM audit_logs WHERE resource = 'usage_event'`, nil,
			func(func(...any) error) error { entries++; return nil })
		if entries != 3 || err != nil {
			t.Errorf("%d entries in the trail, %v", entries, err)
		}
	})
}

// A provider whose identifiers last a day counts nothing twice, however long the
// service stays away: what it cannot know is left to somebody to decide.
func TestReportAfterLongAbsence(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const n = 2*reportTogether + 3
		for _, tt := range []struct {
			away        time.Duration
			unconfirmed int
		}{{tellAgain, 0}, {tellAgain + time.Second, reportTogether}, {20 * 24 * time.Hour, reportTogether}} {
			w := newWorld(t, db, "2026-11-21 12:00")
			code := "calls" + tt.away.String()
			w.sell(t, meter(code, Sum, Monthly, Hard), "1")
			payer := w.newPayer(t)
			if _, err := w.RecordBatch(t.Context(), payer, slices.Repeat([]Recording{recording(code, "1")}, n)); err != nil {
				t.Fatal(err)
			}
			told := map[string]int{}
			p := &till{}
			p.fail = func(_ int, u psp.UsageReport) error {
				told[u.Identifier]++
				if told[u.Identifier] == 1 && len(told) > reportTogether && len(told) <= 2*reportTogether {
					p.count(u)
					return psp.ErrUnavailable // counted, but the answer is lost
				}
				return nil
			}
			if err := w.reporter(p).Report(t.Context()); !errors.Is(err, psp.ErrUnavailable) {
				t.Fatalf("after %v: %v", tt.away, err)
			}
			w.clock.Set(w.clock.Now().Add(tt.away))
			p.forget = true // the identifiers
			w.report(t, p)
			lines, ids := w.refused(t)
			if len(lines) != tt.unconfirmed || len(p.counted) != n || tt.unconfirmed > 0 && p.twice > 0 {
				t.Errorf("after %v: %d unconfirmed, %d counted, %d of them twice", tt.away, len(lines), len(p.counted), p.twice)
			}
			for _, id := range ids {
				if err := w.refusals().Discard(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
