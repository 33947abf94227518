package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func (w *world) retention(archive string) *Retention {
	return NewRetention(RetentionDeps{DB: w.db, Clock: w.clock, Log: slog.New(slog.DiscardHandler), Keep: MinRetention, Archive: archive})
}

func (w *world) prune(t *testing.T, r *Retention) {
	t.Helper()
	if err := r.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRetentionKeepsFiguresAndKeys(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, archive := range []string{"", t.TempDir()} {
			w := newWorld(t, db, "2026-11-21 12:00")
			suffix := strconv.Itoa(len(archive))
			ever, daily := meter("ever"+suffix, Sum, Never, Hard), meter("daily"+suffix, Sum, Daily, Hard)
			w.apply(t, ever, daily)
			tenantID := w.newTenant(t)
			w.plans.grant(tenantID, Allowance{Limits: map[string]int64{ever.Code: 10}})
			w.recordAll(t, tenantID, []Recording{
				recording(ever.Code, "1").keyed("old").on("2026-10-01"), recording(ever.Code, "2").on("2026-10-02 10:00"),
				recording(ever.Code, "3").keyed("edge").on("2026-10-17"), recording(ever.Code, "4").keyed("new").on("2026-11-20"),
				recording(daily.Code, "5").keyed("old").on("2026-10-01"), recording(daily.Code, "6").on("2026-11-21"),
			}, true)
			r := w.retention(archive)
			w.prune(t, r)
			if got := w.count(t, tenantID); got != 3 { // those of 17 October and later
				t.Errorf("%d events are left", got)
			}
			if got := w.detail(t, tenantID, ever.Code); got.Current != quantity("10") || len(got.Events) != 2 {
				t.Errorf("shows %s, %d events", got.Current, len(got.Events))
			}
			refusals := func(step string, want ...error) {
				t.Helper()
				for i, r := range []Recording{
					recording(ever.Code, "0").keyed("old"), recording(ever.Code, "0").keyed("edge"), recording(daily.Code, "9").keyed("old"),
					recording(ever.Code, "0.000001").keyed("other"),
				} {
					if _, err := w.Record(t.Context(), tenantID, r); !sameRefusal(err, want[i]) {
						t.Errorf("%s: %s of %s: %v, want %v", step, *r.IdempotencyKey, r.MeterCode, err, want[i])
					}
				}
			}
			refusals("deleted", ErrDuplicate, ErrDuplicate, ErrDuplicate, ErrQuotaExceeded)

			// Stored on 21 November, and deleted then: these keys last until 30 January.
			w.clock.Set(at("2027-01-30 11:59"))
			w.prune(t, r)
			refusals("long deleted", ErrDuplicate, ErrDuplicate, ErrDuplicate, ErrQuotaExceeded)
			w.clock.Set(at("2027-01-30 12:00"))
			w.prune(t, r)
			refusals("expired", nil, ErrDuplicate, nil, ErrQuotaExceeded)
		}
	})
}

// archived reads all files of a folder, and holds that each has its day's events.
func archived(t *testing.T, folder string) []archiveLine {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []archiveLine
	for _, file := range files {
		err := readLines(file, func(text []byte) error {
			var line archiveLine
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

// However archiving is interrupted, every event is in the files or in the
// database, and none is in the files twice.
func TestArchiveLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		folder := filepath.Join(t.TempDir(), "made", "when needed")
		w.apply(t, meter("calls", Sum, Daily, Hard), meter("disk", LastValue, Never, Hard))
		want := map[uuid.UUID]bool{}
		var batch []Recording
		for i := range 400 {
			code := []string{"calls", "disk"}[i%2]
			batch = append(batch, recording(code, strconv.Itoa(i)).keyed(strconv.Itoa(i)).on([]string{"2026-10-01 07:00", "2026-10-02", "2026-09-30 23:59:59"}[i%3]))
			batch[i].Metadata = sqldb.JSON(`{"a":"<ü>"}`)
		}
		for range 2 {
			outcomes, err := w.RecordBatch(t.Context(), w.newTenant(t), batch)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range outcomes {
				want[o.Event.ID] = true
			}
		}
		r := w.retention(folder)
		// The context ends after any number of its uses.
		for stop := 1; ; stop += 1 + stop/7 {
			err := r.Prune(&failing{Context: t.Context(), left: stop})
			left := map[uuid.UUID]bool{}
			if err := w.store.each(t.Context(), `SELECT id FROM usage_events`, nil, func(scan func(...any) error) error {
				var id uuid.UUID
				err := scan(&id)
				left[id] = true
				return err
			}); err != nil {
				t.Fatal(err)
			}
			seen := map[uuid.UUID]bool{}
			for _, line := range archived(t, folder) {
				if seen[line.ID] || !want[line.ID] || string(line.Metadata) == "" || line.MeterCode == "" {
					t.Fatalf("stopped after %d: %v is doubled or no event", stop, line)
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
		// What is recorded late gets files of its own.
		late := w.newTenant(t)
		w.recordAll(t, late, []Recording{recording("calls", "1").on("2026-10-02")}, false)
		w.prune(t, r)
		lines := archived(t, folder)
		if len(lines) != len(want)+1 {
			t.Errorf("%d events in files", len(lines))
		}
	})
}

// failing is a context that ends after it was asked for its error a few times.
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

// A file that is gone stops the deletion of what it should have.
func TestArchiveMissesItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.New(t, sqldb.SQLite), "2026-11-21 12:00")
	folder := t.TempDir()
	w.apply(t, meter("calls", Sum, Daily, Hard))
	tenantID := w.newTenant(t)
	w.recordAll(t, tenantID, []Recording{recording("calls", "1").on("2026-10-01")}, false)
	r := w.retention(folder)
	f := archiveFile{"2026-10-01", 1}
	if _, err := db(w).ExecContext(t.Context(), `INSERT INTO usage_archives VALUES ($1, $2, 'written', $3, $3)`, f.day, f.part, w.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := r.Prune(t.Context()); !errors.Is(err, os.ErrNotExist) || w.count(t, tenantID) != 1 {
		t.Errorf("%v, %d events left", err, w.count(t, tenantID))
	}
	if _, err := r.writeArchive(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(r.path(f))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.path(f), whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Prune(t.Context()); err == nil {
		t.Error("a file that was cut is taken for whole")
	}
	if err := os.WriteFile(r.path(f), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	w.prune(t, r)
	if got := w.count(t, tenantID); got != 0 {
		t.Errorf("%d events left", got)
	}
}

func db(w *world) sqldb.DBTX { return w.db.Conn(context.Background()) }

// A key is a duplicate while its event is being deleted, before and after.
func TestKeysHoldWhileEventsAreDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("calls", Sum, Daily, Unenforced))
		for range dbtest.Rounds(3, 20) {
			tenantID := w.newTenant(t)
			var batch []Recording
			for i := range 200 {
				batch = append(batch, recording("calls", "1").keyed(strconv.Itoa(i)).on("2026-10-01"))
			}
			w.recordAll(t, tenantID, batch, true)
			var wg sync.WaitGroup
			wg.Go(func() { w.prune(t, w.retention("")) })
			stored, duplicates, _ := race(t, w, 200, func(int) uuid.UUID { return tenantID }, func(i int) Recording { return batch[i] })
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
		w := newWorld(t, db, "2026-11-21 12:00")
		meters := []Meter{meter("count", Count, Weekly, Hard), meter("disk", LastValue, Never, Hard), meter("max", Max, Monthly, Hard), meter("sum", Sum, Daily, Hard)}
		w.apply(t, meters...)
		tenantID, other := w.newTenant(t), w.newTenant(t)
		for _, id := range []uuid.UUID{tenantID, other} {
			for _, m := range meters {
				w.recordAll(t, id, []Recording{recording(m.Code, "3"), recording(m.Code, "2"), recording(m.Code, "5").on("2026-10-01")}, true)
			}
		}
		recount := func(fix bool) (Recounted, []string) {
			t.Helper()
			var lines []string
			n, err := NewRecounter(db, w.clock).Recount(t.Context(), &tenantID, fix, func(d Difference) {
				lines = append(lines, fmt.Sprint(d.MeterCode, " ", d.Stored, " ", d.Counted))
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(lines)
			return n, lines
		}
		if n, lines := recount(false); n != (Recounted{Streams: 4, Counters: 7}) || lines != nil {
			t.Errorf("%+v %v", n, lines)
		}
		w.prune(t, w.retention(""))
		if n, lines := recount(true); n != (Recounted{Streams: 4, Counters: 7, Skipped: 3}) || lines != nil {
			t.Errorf("after deleting: %+v %v", n, lines)
		}
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE usage_counters SET value = value + 1000000`); err != nil {
			t.Fatal(err)
		}
		want := []string{"count 3 2", "disk 3 2", "max 4 3", "sum 6 5"}
		for _, fix := range []bool{false, true} {
			n, lines := recount(fix)
			if diff := cmp.Diff(want, lines); diff != "" || n.Differences != 4 {
				t.Errorf("%+v (-want +got)\n%s", n, diff)
			}
		}
		if n, lines := recount(true); n.Differences != 0 || lines != nil {
			t.Errorf("after all: %+v %v", n, lines)
		}
		if got := w.detail(t, other, "sum").Current; got != quantity("6") {
			t.Errorf("another tenant's counter was changed to %s", got)
		}
	})
}

// Nothing differs while others record.
func TestRecountWhileRecording(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.apply(t, meter("sum", Sum, Daily, Hard), meter("disk", LastValue, Never, Hard))
		tenantID := w.newTenant(t)
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				for n := range 100 {
					if _, err := w.instances[i].Record(t.Context(), tenantID, recording([]string{"sum", "disk"}[n%2], strconv.Itoa(n))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range 10 {
			n, err := NewRecounter(db, w.clock).Recount(t.Context(), nil, true, func(d Difference) { t.Errorf("differs: %+v", d) })
			if err != nil {
				t.Errorf("%+v %v", n, err)
			}
		}
		wg.Wait()
		if got := w.detail(t, tenantID, "sum").Current; got != quantity("4900") {
			t.Errorf("shows %s", got)
		}
	})
}
