package billing_test

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
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

func refusals(w *usagetest.World) *billing.Rejections {
	return billing.NewRejections(w.DB, w.Clock, audit.New(audit.Deps{DB: w.DB, Clock: w.Clock}))
}

// refused returns the rejected reports as "meter quantity: reason", and their IDs.
func refused(t *testing.T, w *usagetest.World) (lines []string, ids []uuid.UUID) {
	t.Helper()
	err := refusals(w).ForEach(t.Context(), func(f billing.RejectedReport) error {
		lines, ids = append(lines, fmt.Sprintf("%s %s: %s", f.MeterCode, f.Quantity, f.Reason)), append(ids, f.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, ids
}

func report(t *testing.T, w *usagetest.World, p billing.Provider) {
	t.Helper()
	r := reporter(w, p)
	if err := r.Report(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lag, err := r.Lag(t.Context()); lag != 0 || err != nil {
		t.Errorf("lags by %v, %v", lag, err)
	}
	_, ids := refused(t, w)
	if n, err := r.CountRejected(t.Context()); int(n) != len(ids) || err != nil {
		t.Errorf("%d refused, %v, want %d", n, err, len(ids))
	}
}

// Figures that the provider rejects do not block others, and stay listed until they are retried or
// discarded.
func TestReportListsRejectedFigures(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("lost", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		payer, stranger := w.NewPayer(t), w.NewTenant(t)
		w.RecordAll(t, payer, []usage.Recording{
			usagetest.Recording("calls", "1"), usagetest.RecordedAt(usagetest.Recording("calls", "2"), "2026-09-01"), usagetest.Recording("calls", "3"), usagetest.Recording("lost", "4"),
		}, true)
		w.RecordAll(t, stranger, []usage.Recording{usagetest.Recording("calls", "9"), usagetest.Recording("lost", "9")}, true) // a tenant without a customer: free
		p := &till{
			fail: func(_ int, u psp.UsageReport) error {
				if u.At.Before(usagetest.At("2026-10-01")) {
					return fmt.Errorf("too old: %w", psp.ErrRefused)
				}
				return nil
			},
			missing: "mtr_lost",
		}
		report(t, w, p)
		want := []string{"cus calls 1 @ 2026-11-21 12:00:00", "cus calls 3 @ 2026-11-21 12:00:00"}
		if diff := cmp.Diff(want, p.list()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		wantRefused := []string{
			"calls 2: too old: the provider rejected the request",
			"lost 4: the linked price price_lost or its meter cannot be read: no such object at the provider",
		}
		lines, ids := refused(t, w)
		sorted := slices.Sorted(slices.Values(lines))
		if diff := cmp.Diff(wantRefused, sorted); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}

		// A retry fails as long as the reason persists, and succeeds afterwards.
		p.missing = ""
		for _, id := range ids {
			if err := refusals(w).Retry(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if lines, _ := refused(t, w); lines != nil {
			t.Errorf("refused still: %v", lines)
		}
		report(t, w, p)
		want = append(want, "cus lost 4 @ 2026-11-21 12:00:00")
		if diff := cmp.Diff(want, p.list()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		lines, ids = refused(t, w)
		if diff := cmp.Diff(wantRefused[:1], lines); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if err := refusals(w).Discard(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		for _, decide := range []func() error{
			func() error { return refusals(w).Discard(t.Context(), ids[0]) },
			func() error { return refusals(w).Retry(t.Context(), ids[0]) },
		} {
			if err := decide(); !errors.Is(err, billing.ErrNotRejected) {
				t.Errorf("decided twice: %v", err)
			}
		}
		report(t, w, p)
		if len(p.counted) != len(want) {
			t.Errorf("abandoned usage was reported: %v", p.list())
		}
		entries := 0
		w.Each(t, `SELECT action FROM audit_logs WHERE resource = 'usage_event'`, nil,
			func(func(...any) error) error { entries++; return nil })
		if entries != 3 {
			t.Errorf("%d entries in the audit log", entries)
		}
	})
}

// Identifiers expire at the provider after a day. However long the service is down, no usage is
// counted twice: figures with an unknown outcome are left to an operator.
func TestReportAfterLongAbsence(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const n = 2*billing.ChunkSize + 3
		for _, tt := range []struct {
			away        time.Duration
			unconfirmed int
		}{{billing.ResendWithin, 0}, {billing.ResendWithin + time.Second, billing.ChunkSize}, {20 * 24 * time.Hour, billing.ChunkSize}} {
			w := usagetest.New(t, db, "2026-11-21 12:00")
			code := "calls" + tt.away.String()
			w.Sell(t, usagetest.Meter(code, usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
			payer := w.NewPayer(t)
			if _, err := w.RecordBatch(t.Context(), payer, slices.Repeat([]usage.Recording{usagetest.Recording(code, "1")}, n)); err != nil {
				t.Fatal(err)
			}
			told := map[string]int{}
			p := &till{}
			p.fail = func(_ int, u psp.UsageReport) error {
				told[u.Identifier]++
				if told[u.Identifier] == 1 && len(told) > billing.ChunkSize && len(told) <= 2*billing.ChunkSize {
					p.count(u)
					return psp.ErrUnavailable // counted, but the response is lost
				}
				return nil
			}
			if err := reporter(w, p).Report(t.Context()); !errors.Is(err, psp.ErrUnavailable) {
				t.Fatalf("after %v: %v", tt.away, err)
			}
			w.Clock.Set(w.Clock.Now().Add(tt.away))
			p.forget = true // its identifiers have expired
			report(t, w, p)
			lines, ids := refused(t, w)
			if len(lines) != tt.unconfirmed || len(p.counted) != n || tt.unconfirmed > 0 && p.twice > 0 {
				t.Errorf("after %v: %d unconfirmed, %d counted, %d of them twice", tt.away, len(lines), len(p.counted), p.twice)
			}
			for _, id := range ids {
				if err := refusals(w).Discard(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
