package billing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// findWrong sends an error report for every counted figure of a meter, and returns the number of
// rejected reports afterwards.
func findWrong(t *testing.T, w *usagetest.World, p *till, meter string) int {
	t.Helper()
	p.wrong = nil
	for id, u := range p.counted {
		if u.EventName == meter {
			p.wrong = append(p.wrong, inbox.UsageError{Identifier: id, Reason: "gone"})
		}
	}
	if len(p.wrong) == 0 {
		t.Fatalf("no usage of %s was counted", meter)
	}
	if err := reporter(w, p).ErrorReport(t.Context(), psp.Event{ID: "evt_1"}); err != nil {
		t.Fatal(err)
	}
	_, ids := refused(t, w)
	return len(ids)
}

// A figure that an error report names is found while other figures of its row are still queued,
// after a retry, and if it was carried over.
func TestErrorReportOfAnyFigure(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementSoft), "1")
		payer := w.NewPayer(t)
		r := &reported{World: w, payer: payer, till: &till{}}
		r.at(t, "2026-11-21 12:00")
		r.failLaterChunks(t)
		r.retryRefusal(t)
		r.decideReports(t)
		r.carryOver(t)
	})
}

// reported is a payer whose usage is reported to a till.
type reported struct {
	*usagetest.World
	payer uuid.UUID
	till  *till
}

// at sets the clock and runs the reporter.
func (w *reported) at(t *testing.T, when string) {
	t.Helper()
	w.Clock.Set(usagetest.At(when))
	r := reporter(w.World, w.till)
	if err := errors.Join(r.QueueCarried(t.Context()), r.Report(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// Some chunks of a row are reported before the provider becomes unavailable.
func (w *reported) failLaterChunks(t *testing.T) {
	payer, p := w.payer, w.till
	batch := make([]usage.Recording, billing.ChunkSize+3)
	for i := range batch {
		batch[i] = usagetest.Recording("calls", "1")
	}
	if _, err := w.RecordBatch(t.Context(), payer, batch); err != nil {
		t.Fatal(err)
	}
	p.fail = func(call int, _ psp.UsageReport) error {
		if call > billing.ChunkSize {
			return psp.ErrUnavailable
		}
		return nil
	}
	if err := reporter(w.World, p).Report(t.Context()); !errors.Is(err, psp.ErrUnavailable) {
		t.Fatal(err)
	}
	if n := findWrong(t, w.World, p, "calls"); n != billing.ChunkSize {
		t.Errorf("%d of %d reports are listed while other figures are queued", n, billing.ChunkSize)
	}
	_, ids := refused(t, w.World)
	for _, id := range ids {
		if err := refusals(w.World).Discard(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}

// A figure is rejected immediately, retried, and then named in an error report.
func (w *reported) retryRefusal(t *testing.T) {
	payer, p := w.payer, w.till
	p.fail = nil
	w.at(t, "2026-11-21 13:00")
	p.counted, p.fail = nil, func(int, psp.UsageReport) error { return psp.ErrRefused }
	w.RecordAll(t, payer, []usage.Recording{usagetest.Recording("calls", "2")}, true)
	w.at(t, "2026-11-21 14:00")
	_, ids := refused(t, w.World)
	if len(ids) != 1 {
		t.Fatalf("%d are refused", len(ids))
	}
	p.fail = nil
	if err := refusals(w.World).Retry(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	w.at(t, "2026-11-21 14:10")
	if len(p.counted) != 1 || p.counted[ids[0].String()] != (psp.UsageReport{}) {
		t.Errorf("reported again under the same id: %v", p.counted)
	}
	if n := findWrong(t, w.World, p, "calls"); n != 1 {
		t.Errorf("%d reports are listed after a retry, want 1", n)
	}
}

// A decided report is not listed again, even if the provider repeats the error report.
func (w *reported) decideReports(t *testing.T) {
	p := w.till
	for _, decide := range []func(context.Context, uuid.UUID) error{refusals(w.World).Retry, refusals(w.World).Discard} {
		_, ids := refused(t, w.World)
		if err := decide(t.Context(), ids[0]); err != nil {
			t.Fatal(err)
		}
		if err := reporter(w.World, p).ErrorReport(t.Context(), psp.Event{ID: "evt_1"}); err != nil {
			t.Fatal(err)
		}
		if _, again := refused(t, w.World); len(again) != 0 {
			t.Errorf("%v is listed again as %v", ids[0], again)
		}
		if err := decide(t.Context(), ids[0]); !errors.Is(err, billing.ErrNotRejected) {
			t.Errorf("decided twice: %v", err)
		}
		p.counted = nil
		w.at(t, w.Clock.Now().Add(10*time.Minute).Format("2006-01-02 15:04"))
		if len(p.counted) == 1 {
			findWrong(t, w.World, p, "calls")
		}
	}
}

// A value is carried over to a new period.
func (w *reported) carryOver(t *testing.T) {
	payer, p := w.payer, w.till
	w.RecordAll(t, payer, []usage.Recording{usagetest.Recording("disk", "40")}, true)
	w.at(t, "2026-12-09")
	p.counted = nil
	w.Plans.Grant(payer, usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-12-10", "2027-01-10")})
	w.at(t, "2026-12-10 02:00")
	if n := findWrong(t, w.World, p, "disk"); n != 1 {
		t.Errorf("%d reports are listed for a carried figure, want 1", n)
	}
}
