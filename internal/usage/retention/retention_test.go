package retention_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/tenantry/tenantry/internal/usage/retention"
)

func TestRetentionKeepsFiguresAndKeys(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, archive := range []string{"", t.TempDir()} {
			w := usagetest.New(t, db, "2026-11-21 12:00")
			suffix := strconv.Itoa(len(archive))
			ever, daily := usagetest.Meter("ever"+suffix, usage.Sum, usage.ResetNever, usage.EnforcementHard), usagetest.Meter("daily"+suffix, usage.Sum, usage.ResetDaily, usage.EnforcementHard)
			w.Apply(t, ever, daily)
			tenantID := w.NewTenant(t)
			w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{ever.Code: 10}})
			w.RecordAll(t, tenantID, []usage.Recording{
				usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording(ever.Code, "1"), "old"), "2026-10-01"), usagetest.RecordedAt(usagetest.Recording(ever.Code, "2"), "2026-10-02 10:00"),
				usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording(ever.Code, "3"), "edge"), "2026-10-17"), usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording(ever.Code, "4"), "new"), "2026-11-20"),
				usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording(daily.Code, "5"), "old"), "2026-10-01"), usagetest.RecordedAt(usagetest.Recording(daily.Code, "6"), "2026-11-21"),
			}, true)
			r := w.Retention(archive)
			w.Prune(t, r)
			if got := w.Count(t, tenantID); got != 3 { // the events from 17 October on
				t.Errorf("%d events are left", got)
			}
			if got := w.Detail(t, tenantID, ever.Code); got.Current != usagetest.Total("10") || len(got.Events) != 2 {
				t.Errorf("shows %s, %d events", got.Current, len(got.Events))
			}
			refusals := func(step string, want ...error) {
				t.Helper()
				for i, r := range []usage.Recording{
					usagetest.WithKey(usagetest.Recording(ever.Code, "0"), "old"), usagetest.WithKey(usagetest.Recording(ever.Code, "0"), "edge"), usagetest.WithKey(usagetest.Recording(daily.Code, "9"), "old"),
					usagetest.WithKey(usagetest.Recording(ever.Code, "0.000001"), "other"),
				} {
					if _, err := w.Record(t.Context(), tenantID, r); !errors.Is(err, want[i]) {
						t.Errorf("%s: %s of %s: %v, want %v", step, *r.IdempotencyKey, r.MeterCode, err, want[i])
					}
				}
			}
			refusals("deleted", usage.ErrDuplicate, usage.ErrDuplicate, usage.ErrDuplicate, usage.ErrQuotaExceeded)

			// The keys were stored on 21 November, so they expire on 30 January at 12:00, after
			// MinRetention and keepKeys. The next run of the job deletes them.
			w.Clock.Set(usagetest.At("2026-12-28 12:00"))
			w.Prune(t, r)
			w.Clock.Set(usagetest.At("2027-01-30 12:00").Add(-time.Minute))
			w.Prune(t, r)
			refusals("long deleted", usage.ErrDuplicate, usage.ErrDuplicate, usage.ErrDuplicate, usage.ErrQuotaExceeded)
			w.Clock.Set(usagetest.At("2027-02-01 12:00"))
			w.Prune(t, r)
			refusals("expired", nil, nil, nil, usage.ErrQuotaExceeded)
		}
	})
}

// archived reads all files of a folder and checks that each contains events of its day.
func archived(t *testing.T, folder string) []retention.ArchiveLine {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []retention.ArchiveLine
	for _, file := range files {
		err := retention.ReadLines(file, func(text []byte) error {
			var line retention.ArchiveLine
			if err := json.Unmarshal(text, &line); err != nil {
				return err
			}
			if day := filepath.Base(file)[len("usage-"):][:10]; line.RecordedAt.Format(time.DateOnly) != day {
				return fmt.Errorf("%s has an event of %v", file, line.RecordedAt)
			}
			all = append(all, line)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// However archiving is interrupted, every event is in the files or in the database, and no event is
// in the files twice.
func TestArchiveLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		folder := filepath.Join(t.TempDir(), "made", "when needed")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard), usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementHard))
		want := map[uuid.UUID]bool{}
		var batch []usage.Recording
		for i := range 400 {
			code := []string{"calls", "disk"}[i%2]
			batch = append(batch, usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording(code, strconv.Itoa(i)), strconv.Itoa(i)), []string{"2026-10-01 07:00", "2026-10-02", "2026-09-30 23:59:59"}[i%3]))
			batch[i].Metadata = sqldb.JSON(`{"a":"<ü>"}`)
		}
		for range 2 {
			outcomes, err := w.RecordBatch(t.Context(), w.NewTenant(t), batch)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				want[o.Event.ID] = true
			}
		}
		r := w.Retention(folder)
		// The context ends after a given number of calls to Err.
		for stop := 1; ; stop += 1 + stop/7 {
			err := r.Prune(&failing{Context: t.Context(), left: stop})
			left := map[uuid.UUID]bool{}
			w.Each(t, `SELECT id FROM usage_events`, nil, func(scan func(...any) error) error {
				var id uuid.UUID
				err := scan(&id)
				left[id] = true
				return err
			})
			seen := map[uuid.UUID]bool{}
			for _, line := range archived(t, folder) {
				if seen[line.ID] || !want[line.ID] || string(line.Metadata) == "" || line.MeterCode == "" {
					t.Fatalf("stopped after %d: %v is stored twice or is not an event", stop, line)
				}
				seen[line.ID] = true
			}
			for id := range want {
				if !seen[id] && !left[id] {
					t.Fatalf("stopped after %d: %v is lost", stop, id)
				}
			}
			if err == nil {
				if len(left) > 0 || len(seen) != len(want) {
					t.Fatalf("%d left, %d in files", len(left), len(seen))
				}
				break
			}
		}
		// Late events go to separate files.
		late := w.NewTenant(t)
		w.RecordAll(t, late, []usage.Recording{usagetest.RecordedAt(usagetest.Recording("calls", "1"), "2026-10-02")}, false)
		w.Prune(t, r)
		lines := archived(t, folder)
		if len(lines) != len(want)+1 {
			t.Errorf("%d events in files", len(lines))
		}
	})
}

// failing is a context that ends after a number of calls to Err.
type failing struct {
	context.Context
	mu   sync.Mutex
	left int
}

func (f *failing) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left <= 0 {
		return context.Canceled
	}
	return f.Context.Err()
}

// A missing file prevents the deletion of its events.
func TestArchiveMissesItsFile(t *testing.T) {
	t.Parallel()
	w := usagetest.New(t, dbtest.New(t, sqldb.SQLite), "2026-11-21 12:00")
	folder := t.TempDir()
	w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard))
	tenantID := w.NewTenant(t)
	w.RecordAll(t, tenantID, []usage.Recording{usagetest.RecordedAt(usagetest.Recording("calls", "1"), "2026-10-01")}, false)
	r := w.Retention(folder)
	f := retention.NewArchiveFile("2026-10-01", 1)
	if _, err := db(w).ExecContext(t.Context(), `INSERT INTO usage_archives (day, part, state, created_at, updated_at) VALUES ($1, $2, 'written', $3, $3)`, "2026-10-01", 1, w.Clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := r.Prune(t.Context()); !errors.Is(err, os.ErrNotExist) || w.Count(t, tenantID) != 1 {
		t.Errorf("%v, %d events left", err, w.Count(t, tenantID))
	}
	if _, err := r.WriteArchive(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(r.Path(f))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.Path(f), whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Prune(t.Context()); err == nil {
		t.Error("truncated file is accepted")
	}
	if err := os.WriteFile(r.Path(f), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Prune(t, r)
	if got := w.Count(t, tenantID); got != 0 {
		t.Errorf("%d events left", got)
	}
}

func db(w *usagetest.World) sqldb.DBTX { return w.DB.Conn(context.Background()) }

// A key is detected as a duplicate before, during and after the deletion of its event.
func TestKeysStayUsedDuringDeletion(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementUnenforced))
		for range dbtest.Rounds(3, 20) {
			tenantID := w.NewTenant(t)
			var batch []usage.Recording
			for i := range 200 {
				batch = append(batch, usagetest.RecordedAt(usagetest.WithKey(usagetest.Recording("calls", "1"), strconv.Itoa(i)), "2026-10-01"))
			}
			w.RecordAll(t, tenantID, batch, true)
			var wg sync.WaitGroup
			wg.Go(func() { w.Prune(t, w.Retention("")) })
			stored, duplicates, _ := w.Race(t, 200, func(int) uuid.UUID { return tenantID }, func(i int) usage.Recording { return batch[i] })
			wg.Wait()
			if stored != 0 || duplicates != 200 {
				t.Fatalf("%d stored again, %d duplicates", stored, duplicates)
			}
		}
	})
}

func TestRecount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		meters := []usage.Meter{usagetest.Meter("count", usage.Count, usage.ResetWeekly, usage.EnforcementHard), usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementHard), usagetest.Meter("max", usage.Max, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("sum", usage.Sum, usage.ResetDaily, usage.EnforcementHard)}
		w.Apply(t, meters...)
		tenantID, other := w.NewTenant(t), w.NewTenant(t)
		for _, id := range []uuid.UUID{tenantID, other} {
			for _, m := range meters {
				w.RecordAll(t, id, []usage.Recording{usagetest.Recording(m.Code, "3"), usagetest.Recording(m.Code, "2"), usagetest.RecordedAt(usagetest.Recording(m.Code, "5"), "2026-10-01")}, true)
			}
		}
		recount := func(fix bool) (retention.RecountResult, []string) {
			t.Helper()
			var lines []string
			n, err := retention.NewRecounter(db, w.Clock).Recount(t.Context(), retention.Recount{Tenant: &tenantID, Fix: fix, Wrong: func(d retention.WrongCounter) {
				lines = append(lines, fmt.Sprint(d.MeterCode, " ", d.Stored, " ", d.Counted))
			}})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(lines)
			return n, lines
		}
		if n, lines := recount(false); n != (retention.RecountResult{Streams: 4, Events: 12, Counters: 7}) || lines != nil {
			t.Errorf("%+v %v", n, lines)
		}
		w.Prune(t, w.Retention(""))
		if n, lines := recount(true); n != (retention.RecountResult{Streams: 4, Events: 8, Counters: 7, Skipped: 3}) || lines != nil {
			t.Errorf("after deleting: %+v %v", n, lines)
		}
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE usage_counters SET units = units + 1`); err != nil {
			t.Fatal(err)
		}
		want := []string{"count 3 2", "disk 3 2", "max 4 3", "sum 6 5"}
		for _, fix := range []bool{false, true} {
			n, lines := recount(fix)
			if diff := cmp.Diff(want, lines); diff != "" || n.Wrong != 4 {
				t.Errorf("%+v (-want +got)\n%s", n, diff)
			}
		}
		if n, lines := recount(true); n.Wrong != 0 || lines != nil {
			t.Errorf("after the correction: %+v %v", n, lines)
		}
		if got := w.Detail(t, other, "sum").Current; got != usagetest.Total("6") {
			t.Errorf("another tenant's counter was changed to %s", got)
		}
	})
}

// A recount of all tenants resumes an interrupted one and does not count finished streams again. A
// recount of one tenant, or a recount without Fix, does not resume.
func TestRecountResumes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("sum", usage.Sum, usage.ResetDaily, usage.EnforcementHard), usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementHard))
		for range 3 {
			tenantID := w.NewTenant(t)
			w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("sum", "1"), usagetest.Recording("disk", "2")}, true)
		}
		spoil := func() {
			t.Helper()
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE usage_counters SET units = 7`); err != nil {
				t.Fatal(err)
			}
		}
		interrupted := func() {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := retention.NewRecounterWithBatch(db, w.Clock, 2)
			n, err := r.Recount(ctx, retention.Recount{Fix: true, Wrong: func(retention.WrongCounter) {}, Progress: func(n retention.RecountResult, streams int) {
				if streams != 6 || n.Streams > 4 {
					t.Errorf("%d of %d streams", n.Streams, streams)
				}
				if n.Streams == 4 {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) || n.Wrong != 4 {
				t.Fatalf("%+v %v", n, err)
			}
		}
		rest := func(c retention.Recount) (n retention.RecountResult, resumed, wrong int) {
			t.Helper()
			c.Resumed = func(n retention.RecountResult, at time.Time) {
				if resumed = n.Streams; !at.Equal(w.Clock.Now()) {
					t.Errorf("interrupted at %v", at)
				}
			}
			c.Wrong = func(retention.WrongCounter) { wrong++ }
			n, err := retention.NewRecounterWithBatch(db, w.Clock, 2).Recount(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return n, resumed, wrong
		}
		spoil()
		interrupted()
		spoil() // including finished streams, which are not visited again
		if n, resumed, wrong := rest(retention.Recount{}); n.Streams != 6 || resumed != 0 || wrong != 6 {
			t.Errorf("a dry run: %+v, after %d, %d wrong", n, resumed, wrong)
		}
		if n, resumed, wrong := rest(retention.Recount{Fix: true}); n.Streams != 6 || n.Wrong != 6 || resumed != 4 || wrong != 2 {
			t.Errorf("resumed recount: %+v, after %d, %d wrong", n, resumed, wrong)
		}
		if n, resumed, wrong := rest(retention.Recount{Fix: true}); n.Streams != 6 || resumed != 0 || wrong != 4 {
			t.Errorf("after a finished recount: %+v, after %d, %d wrong", n, resumed, wrong)
		}
		spoil()
		interrupted()
		if n, resumed, wrong := rest(retention.Recount{Fix: true, FromStart: true}); n.Streams != 6 || resumed != 0 || wrong != 2 {
			t.Errorf("from the start: %+v, after %d, %d wrong", n, resumed, wrong)
		}
		spoil()
		interrupted()
		w.Clock.Set(w.Clock.Now().Add(25 * time.Hour))
		if n, resumed, wrong := rest(retention.Recount{Fix: true}); n.Streams != 6 || resumed != 0 || wrong != 2 {
			t.Errorf("a day later: %+v, after %d, %d wrong", n, resumed, wrong)
		}
	})
}

// A recount finds no differences during concurrent recording.
func TestRecountWhileRecording(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("sum", usage.Sum, usage.ResetDaily, usage.EnforcementHard), usagetest.Meter("disk", usage.LastValue, usage.ResetNever, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				for n := range 100 {
					if _, err := w.Instances[i].Record(t.Context(), tenantID, usagetest.Recording([]string{"sum", "disk"}[n%2], strconv.Itoa(n))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 10 {
			n, err := retention.NewRecounter(db, w.Clock).Recount(t.Context(), retention.Recount{Fix: true, Wrong: func(d retention.WrongCounter) { t.Errorf("differs: %+v", d) }})
			if err != nil {
				t.Errorf("%+v %v", n, err)
			}
		}
		wg.Wait()
		if got := w.Detail(t, tenantID, "sum").Current; got != usagetest.Total("4900") {
			t.Errorf("shows %s", got)
		}
	})
}
