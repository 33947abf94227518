package billing_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// till fakes the payment provider. It counts each identifier once.
type till struct {
	mu      sync.Mutex
	counted map[string]psp.UsageReport // by identifier
	calls   int
	fail    func(call int, u psp.UsageReport) error // called before counting; nil never fails
	missing string                                  // a meter unknown to the provider
	forget  bool                                    // forget all identifiers
	formula string                                  // aggregation of the provider's meters
	drafts  []psp.Invoice
	wrong   []inbox.UsageError // errors detected later
	twice   int                // number of figures counted twice
}

func (p *till) GetPrice(_ context.Context, id string) (psp.Price, error) {
	return psp.Price{ID: id, MeterID: strings.Replace(id, "price_", "mtr_", 1)}, nil
}

func (p *till) GetMeter(_ context.Context, id string) (psp.Meter, error) {
	if id == p.missing {
		return psp.Meter{}, psp.ErrNotFound
	}
	return psp.Meter{ID: id, EventName: strings.TrimPrefix(id, "mtr_"), Aggregation: p.formula, Active: true}, nil
}

func (p *till) ListInvoices(context.Context, psp.InvoiceQuery) (psp.InvoicePage, error) {
	return psp.InvoicePage{Invoices: p.drafts}, nil
}

func (p *till) UsageErrors(context.Context, string) ([]inbox.UsageError, int, error) {
	return p.wrong, len(p.wrong), nil
}

func (p *till) ReportUsage(ctx context.Context, u psp.UsageReport) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.fail != nil {
		if err := p.fail(p.calls, u); err != nil {
			return err
		}
	}
	if known, ok := p.counted[u.Identifier]; ok {
		if p.forget {
			p.twice++
		}
		if known != u {
			return fmt.Errorf("figure %v differs from the earlier report %v", u, known)
		}
	}
	p.count(u)
	return nil
}

func (p *till) count(u psp.UsageReport) {
	if p.counted == nil {
		p.counted = map[string]psp.UsageReport{}
	}
	p.counted[u.Identifier] = u
}

// list returns the counted figures as "customer meter quantity @ time", sorted.
func (p *till) list() []string {
	lines := []string{}
	for _, u := range p.counted {
		lines = append(lines, fmt.Sprintf("%s %s %s @ %s", u.CustomerID, u.EventName, u.Quantity, u.At.Format(time.DateTime)))
	}
	slices.Sort(lines)
	return lines
}

func reporter(w *usagetest.World, p billing.Provider) *billing.Reporter {
	reports, _ := p.(billing.ErrorReports)
	return billing.NewReporter(billing.ReporterDeps{
		DB: w.DB, Clock: w.Clock, Log: slog.New(slog.DiscardHandler), Provider: p, Reports: reports, Customers: w.Plans, Payers: w.Plans,
	})
}

func TestReportSendsEveryBillableEventOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("logins", usage.Count, usage.ResetDaily, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("peak", usage.Max, usage.ResetMonthly, usage.EnforcementHard), "1")
		w.Apply(t, usagetest.Meter("free", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		payer, stranger := w.NewPayer(t), w.NewTenant(t)
		var events []usage.Recording
		for _, code := range []string{"calls", "logins", "disk", "peak", "free"} {
			events = append(events, usagetest.WithKey(usagetest.Recording(code, "2.5"), "k"), usagetest.RecordedAt(usagetest.Recording(code, "7"), "2026-11-20"))
		}
		w.RecordAll(t, payer, events, true)
		w.RecordAll(t, stranger, events, true)
		if _, err := w.Record(t.Context(), payer, events[0]); !errors.Is(err, usage.ErrDuplicate) {
			t.Fatal(err)
		}
		p := &till{}
		r := reporter(w, p)
		w.Clock.Set(usagetest.At("2026-11-21 12:03"))
		if lag, err := r.Lag(t.Context()); err != nil || lag != 3*time.Minute {
			t.Errorf("lags by %v, %v", lag, err)
		}
		for range 2 {
			if err := r.Report(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"cus calls 2.5 @ 2026-11-21 12:00:00", "cus calls 7 @ 2026-11-20 00:00:00",
			"cus disk 2.5 @ 2026-11-21 12:00:00", "cus disk 7 @ 2026-11-20 00:00:00",
			"cus logins 1 @ 2026-11-20 00:00:00", "cus logins 1 @ 2026-11-21 12:00:00",
			"cus peak 2.5 @ 2026-11-21 12:00:00", "cus peak 4.5 @ 2026-11-20 00:00:00", // each increase of the maximum
		}
		if diff := cmp.Diff(want, p.list()); diff != "" || p.calls != len(want) {
			t.Errorf("%d calls (-want +got)\n%s", p.calls, diff)
		}
		if lag, err := r.Lag(t.Context()); err != nil || lag != 0 {
			t.Errorf("lags by %v, %v", lag, err)
		}
	})
}

// The reported figures always add up to the maxima of the periods. If the provider takes the last
// figure, it is the sum of the maxima in the billing period.
func TestReportSendsRisingMaxima(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("peak", usage.Max, usage.ResetDaily, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("month", usage.Max, usage.ResetMonthly, usage.EnforcementHard), "1")
		payer := w.NewPayer(t)
		record := func(quantity, when string) {
			t.Helper()
			w.RecordAll(t, payer, []usage.Recording{usagetest.RecordedAt(usagetest.Recording("peak", quantity), when), usagetest.RecordedAt(usagetest.Recording("month", quantity), when)}, false)
		}
		tell := func(formula string, want ...string) {
			t.Helper()
			p := &till{formula: formula}
			if err := reporter(w, p).Report(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, p.list()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", formula, diff)
			}
		}
		record("3", "2026-11-21 12:00")
		record("5.5", "2026-11-21 11:00")
		record("4", "2026-11-21 12:00")
		record("1", "2026-11-20")
		tell(psp.AggregateSum, "cus month 2.5 @ 2026-11-21 11:00:00", "cus month 3 @ 2026-11-21 12:00:00",
			"cus peak 1 @ 2026-11-20 00:00:00", "cus peak 2.5 @ 2026-11-21 11:00:00", "cus peak 3 @ 2026-11-21 12:00:00")
		record("6", "2026-11-21 12:00")
		record("2", "2026-11-20 06:00")
		tell(psp.AggregateLast, "cus month 6 @ 2026-11-21 12:00:00", "cus peak 8 @ 2026-11-21 12:00:00", "cus peak 8 @ 2026-11-21 12:00:00")
		// A new subscription starts a new maximum.
		w.Clock.Set(usagetest.At("2026-11-22"))
		w.Plans.Grant(payer, usage.Allowance{Billing: usagetest.Billing("2026-11-22", usage.Month, 1, "2026-11-22", "2026-12-22")})
		record("2", "2026-11-22")
		tell(psp.AggregateSum, "cus month 2 @ 2026-11-22 00:00:00", "cus peak 2 @ 2026-11-22 00:00:00")
	})
}

// Before a subscription ends, all usage of the tenant is reported immediately, and nothing is
// counted twice.
func TestSettle(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementHard), "1")
		ends, other := w.NewPayer(t), w.NewPayer(t)
		p := &till{}
		r := reporter(w, p)
		if err := errors.Join(r.QueueCarried(t.Context()), r.Settle(t.Context(), ends)); err != nil || p.calls != 0 {
			t.Fatal(p.calls, err)
		}
		w.RecordAll(t, ends, []usage.Recording{usagetest.Recording("disk", "40")}, true)
		w.Clock.Set(usagetest.At("2026-12-10 00:00:30")) // a period has just begun without events
		w.Plans.Grant(ends, usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-12-10", "2027-01-10")})
		var calls []usage.Recording
		for range billing.ChunkSize + 1 {
			calls = append(calls, usagetest.Recording("calls", "1"))
		}
		w.RecordAll(t, ends, calls, true)
		w.RecordAll(t, other, calls, true)
		p.fail = func(int, psp.UsageReport) error { return psp.ErrUnavailable }
		if err := r.Settle(t.Context(), ends); !errors.Is(err, psp.ErrUnavailable) {
			t.Errorf("during an outage of the provider: %v", err)
		}
		p.fail, p.calls = nil, 0
		if err := r.Settle(t.Context(), ends); err != nil {
			t.Fatal(err)
		}
		told := len(p.counted)
		if told != billing.ChunkSize+3 || p.since("disk", "2026-12-10") == nil {
			t.Errorf("%d figures reported: %v", told, p.list())
		}
		w.Clock.Set(usagetest.At("2026-12-10 02:00"))
		if err := errors.Join(r.QueueCarried(t.Context()), r.Report(t.Context())); err != nil {
			t.Fatal(err)
		}
		if want := told + len(calls); len(p.counted) != want {
			t.Errorf("%d figures reported at the end, want %d", len(p.counted), want)
		}
	})
}

// For last_value meters that never reset, the current value is reported at the start of each
// billing period. Otherwise the provider would not bill it.
func TestReportCarriesLastValuesOver(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementSoft), "1")
		w.Sell(t, usagetest.Meter("daily", usage.LastValue, usage.ResetDaily, usage.EnforcementSoft), "1")
		w.Apply(t, usagetest.Meter("free", usage.LastValue, usage.ResetNever, usage.EnforcementSoft))
		idle, busy, punctual, empty, stranger := w.NewPayer(t), w.NewPayer(t), w.NewPayer(t), w.NewPayer(t), w.NewTenant(t)
		p := &till{}
		r := reporter(w, p)
		run := func(when string, n int) {
			t.Helper()
			w.Clock.Set(usagetest.At(when))
			for range n {
				if err := errors.Join(r.QueueCarried(t.Context()), r.Report(t.Context())); err != nil {
					t.Fatal(err)
				}
			}
		}
		record := func(tenantID uuid.UUID, quantity string) {
			t.Helper()
			events := []usage.Recording{usagetest.Recording("disk", quantity), usagetest.Recording("daily", quantity), usagetest.Recording("free", quantity)}
			w.RecordAll(t, tenantID, events, true)
		}
		run("2026-11-21 12:00", 1)
		for i, tenantID := range []uuid.UUID{idle, busy, punctual, empty, stranger} {
			record(tenantID, []string{"40", "7", "8", "1", "9"}[i])
		}
		record(empty, "0")
		run("2026-12-09 23:59", 2)
		w.Clock.Set(usagetest.At("2026-12-10"))
		record(punctual, "6") // in the second in which the period begins
		w.Clock.Set(usagetest.At("2026-12-10 00:30"))
		record(busy, "5")          // the value at the start is still reported
		run("2026-12-10 01:20", 2) // the renewal is not yet known
		want := []string{
			"cus disk 40 @ 2026-12-10 00:00:00", "cus disk 5 @ 2026-12-10 00:30:00", "cus disk 6 @ 2026-12-10 00:00:00",
			"cus disk 7 @ 2026-12-10 00:00:00",
		}
		if diff := cmp.Diff(want, p.since("disk", "2026-12-10")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		for _, tenantID := range []uuid.UUID{idle, busy, punctual, empty} {
			w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-12-10", "2027-01-10")})
		}
		run("2026-12-12", 2)
		w.Clock.Set(usagetest.At("2027-01-10 02:00"))
		w.Prune(t, w.Retention(""))
		run("2027-01-10 02:00", 2) // the events of November are deleted
		want = []string{"cus disk 40 @ 2027-01-10 00:00:00", "cus disk 5 @ 2027-01-10 00:00:00", "cus disk 6 @ 2027-01-10 00:00:00"}
		if diff := cmp.Diff(want, p.since("disk", "2026-12-11")); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if daily := p.since("daily", "2026-12-11"); len(daily) > 0 {
			t.Errorf("usage of a meter that resets was carried over: %v", daily)
		}
		if lines, _ := estimate(t, w, idle); !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "40") }) {
			t.Errorf("the estimate is %v", lines)
		}
	})
}

// since lists the counted figures of a meter with times from when on, in the format of list.
func (p *till) since(meter, when string) []string {
	told := till{counted: map[string]psp.UsageReport{}}
	for id, u := range p.counted {
		if u.EventName == meter && !u.At.Before(usagetest.At(when)) {
			told.counted[id] = u
		}
	}
	return told.list()
}

// Wherever the provider fails or the service stops, each event is finally counted once, and only a
// few are reported twice.
func TestReportResumesWhereItStopped(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			w := usagetest.New(t, dbtest.New(t, dialect), "2026-11-21 12:00")
			w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
			rapid.Check(t, func(t *rapid.T) { checkReporting(t, w, dbtest.Rounds(3, 10)) })
		})
	}
}

func checkReporting(t *rapid.T, w *usagetest.World, batches int) {
	payer := w.NewPayer(t)
	events := map[string]bool{}
	for range rapid.IntRange(1, batches).Draw(t, "batches") {
		batch := slices.Repeat([]usage.Recording{usagetest.Recording("calls", "1")}, rapid.IntRange(1, 3*billing.ChunkSize).Draw(t, "events"))
		outcomes, err := w.RecordBatch(t.Context(), payer, batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			events[o.Event.ID.String()] = true
		}
	}
	p := &till{}
	r := reporter(w, p)
	stops := 0
	for done := false; !done; {
		at := p.calls + rapid.IntRange(1, 2*len(events)).Draw(t, "stops at")
		ctx, stop := context.WithCancel(t.Context())
		kind := rapid.IntRange(0, 2).Draw(t, "stops by")
		p.fail = func(call int, u psp.UsageReport) error {
			switch {
			case call != at:
				return nil
			case kind == 0: // rejected before it was counted
				return psp.ErrUnavailable
			case kind == 1: // counted, but the response is lost
				p.count(u)
				return psp.ErrUnavailable
			default: // the process ends
				stop()
				return ctx.Err()
			}
		}
		err := r.Report(ctx)
		stop()
		done = err == nil
		if !done {
			stops++
		}
	}
	if len(p.counted) != len(events) || p.calls > len(events)+stops*billing.ChunkSize {
		t.Fatalf("%d of %d events counted, in %d calls with %d stops", len(p.counted), len(events), p.calls, stops)
	}
	for id := range events {
		if _, counted := p.counted[id]; !counted {
			t.Fatalf("event %s was not counted", id)
		}
	}
}

// A figure that the provider accepted but could not count is listed with its reason, and a retry
// reports it under a new ID.
func TestErrorReport(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		payer := w.NewPayer(t)
		w.RecordAll(t, payer, []usage.Recording{usagetest.Recording("calls", "1"), usagetest.Recording("calls", "2")}, true)
		p := &till{}
		r := reporter(w, p)
		if err := r.Report(t.Context()); err != nil {
			t.Fatal(err)
		}
		for id, u := range p.counted {
			if u.Quantity == usagetest.Quantity("2") {
				p.wrong = append(p.wrong, inbox.UsageError{Identifier: id + "-KEY", Reason: "no_customer: gone"})
			}
		}
		p.wrong = append(p.wrong, inbox.UsageError{Identifier: "somebody else's"}, inbox.UsageError{Identifier: uuid.NewString()}, inbox.UsageError{Identifier: sqldb.NewID().String()})
		for range 2 {
			if err := r.ErrorReport(t.Context(), psp.Event{ID: "evt_1"}); err != nil {
				t.Fatal(err)
			}
		}
		rejections := billing.NewRejections(db, w.Clock, audit.New(audit.Deps{DB: db, Clock: w.Clock}))
		var listed []billing.RejectedReport
		err := rejections.ForEach(t.Context(), func(f billing.RejectedReport) error { listed = append(listed, f); return nil })
		if err != nil || len(listed) != 1 || listed[0].Quantity != usagetest.Quantity("2") || listed[0].Reason != "no_customer: gone" || listed[0].TenantID != payer {
			t.Fatalf("listed %+v, %v", listed, err)
		}
		if err := errors.Join(rejections.Retry(t.Context(), listed[0].ID), r.Report(t.Context())); err != nil {
			t.Fatal(err)
		}
		if len(p.counted) != 3 {
			t.Errorf("reported %v, want 3 figures", p.list())
		}
		w.Clock.Set(usagetest.At("2026-12-01"))
		if err := errors.Join(r.QueueCarried(t.Context()), r.ErrorReport(t.Context(), psp.Event{ID: "evt_1"})); err != nil {
			t.Fatal(err)
		}
		if n, err := r.CountRejected(t.Context()); n != 0 || err != nil {
			t.Errorf("after some days, %d reports are still listed, %v", n, err)
		}
	})
}

// All figures of a second are reported with the last value of that second, so it does not matter
// which of them the provider keeps.
func TestReportLastValuesOfOneSecond(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementSoft), "1")
		payer := w.NewPayer(t)
		w.RecordAll(t, payer, []usage.Recording{
			usagetest.Recording("disk", "100"), usagetest.Recording("disk", "50"),
			usagetest.RecordedAt(usagetest.Recording("disk", "8"), "2026-11-21 11:00:00.9"), usagetest.RecordedAt(usagetest.Recording("disk", "9"), "2026-11-21 11:00:00.1"),
		}, true)
		p := &till{formula: psp.AggregateLast}
		report(t, w, p)
		told := map[string]map[string]bool{}
		for _, u := range p.counted {
			second := u.At.Format(time.TimeOnly)
			if told[second] == nil {
				told[second] = map[string]bool{}
			}
			told[second][u.Quantity.String()] = true
		}
		want := map[string]map[string]bool{"11:00:00": {"8": true}, "12:00:00": {"50": true}}
		if diff := cmp.Diff(want, told); diff != "" || len(p.counted) != 4 {
			t.Errorf("%d figures reported, want 4 (-want +got)\n%s", len(p.counted), diff)
		}
	})
}
