package retention_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/retention"
	"github.com/tenantry/tenantry/internal/usage/usagetest"
)

// byTheMonth is a world on PostgreSQL with partitions from a time on until three months from now.
func byTheMonth(t *testing.T, now, since string) *usagetest.World {
	t.Helper()
	w := usagetest.New(t, dbtest.New(t, sqldb.Postgres), now)
	if err := errors.Join(w.Months().Since(t.Context(), usagetest.At(since)), w.Months().Run(t.Context())); err != nil {
		t.Fatal(err)
	}
	return w
}

// rows counts the rows of a table, -1 where there is no such table.
func rows(t *testing.T, w *usagetest.World, table string) int {
	t.Helper()
	var there bool
	if err := db(w).QueryRowContext(t.Context(), `SELECT to_regclass($1) IS NOT NULL`, table).Scan(&there); err != nil {
		t.Fatal(err)
	}
	if !there {
		return -1
	}
	var n int
	if err := db(w).QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A month that is over by the limit is dropped, with what it came to and the keys kept. What is
// recorded for it later is deleted one by one.
func TestMonthsAreDropped(t *testing.T) {
	t.Parallel()
	for _, archive := range []string{"", t.TempDir()} {
		w := byTheMonth(t, "2026-11-21 12:00", "2026-08-01")
		sum, count := usagetest.Meter("sum", usage.Sum, usage.Never, usage.Hard), usagetest.Meter("count", usage.Count, usage.Never, usage.Hard)
		highest, last := usagetest.Meter("max", usage.Max, usage.Never, usage.Hard), usagetest.Meter("last", usage.LastValue, usage.Never, usage.Hard)
		w.Apply(t, sum, count, highest, last)
		tenantID, late := w.NewTenant(t), w.NewTenant(t)
		record := func(tenantID uuid.UUID, code, quantity, key, on string) error {
			_, err := w.Record(t.Context(), tenantID, usagetest.On(usagetest.Keyed(usagetest.Recording(code, quantity), key), on))
			return err
		}
		for i, on := range []string{"2026-07-31 23:59", "2026-09-01", "2026-09-30 23:59:59.999999", "2026-10-01", "2026-11-20"} {
			for _, m := range []string{"sum", "count", "max", "last"} {
				if err := record(tenantID, m, strconv.Itoa(10-i), m+on, on); err != nil {
					t.Fatal(err)
				}
			}
		}
		if other, september := rows(t, w, "usage_records_other"), rows(t, w, "usage_records_2026_09"); other != 4 || september != 8 {
			t.Fatalf("%d events have no partition, September has %d", other, september)
		}
		same := func(step string, want ...string) {
			t.Helper()
			for i, m := range []string{"sum", "count", "max", "last"} {
				if got := w.Detail(t, tenantID, m).Current; got != usagetest.Total(want[i]) {
					t.Errorf("%s: %s shows %s, want %s", step, m, got, want[i])
				}
			}
			if n := w.Recount(t); n != 0 {
				t.Errorf("%s: %d counters are wrong", step, n)
			}
		}
		same("before", "40", "5", "10", "6")
		w.Prune(t, w.Retention(archive)) // until 17 October: August and September are over
		for table, want := range map[string]int{
			"usage_records_2026_08": -1, "usage_records_2026_09": -1, "usage_detached_2026_09": -1, "usage_records_2026_10": 4, "usage_records_other": 0,
		} {
			if got := rows(t, w, table); got != want {
				t.Errorf("%s has %d events, want %d", table, got, want)
			}
		}
		same("dropped", "40", "5", "10", "6")
		for _, key := range []string{"2026-07-31 23:59", "2026-09-01", "2026-10-01"} { // keys hold across months
			if err := record(tenantID, "sum", "1", "sum"+key, "2026-11-21"); !errors.Is(err, usage.ErrDuplicate) {
				t.Errorf("the key of %s: %v", key, err)
			}
		}
		// Late ones, also of a stream that had nothing, for a month that is gone.
		for _, id := range []uuid.UUID{tenantID, late} {
			for _, m := range []string{"sum", "count", "max", "last"} {
				if err := record(id, m, "20", "late", "2026-09-15"); err != nil {
					t.Fatal(err)
				}
			}
		}
		same("late", "60", "6", "20", "6")
		w.Prune(t, w.Retention(archive))
		if got := rows(t, w, "usage_records_other"); got != 0 {
			t.Errorf("%d late events are left", got)
		}
		same("late ones deleted", "60", "6", "20", "6")
		if err := record(tenantID, "sum", "1", "late", "2026-11-21"); !errors.Is(err, usage.ErrDuplicate) {
			t.Errorf("the key of a late event that is deleted: %v", err)
		}
		// A change of aggregation counts again, from totals and events.
		for _, m := range []*usage.Meter{&sum, &count} {
			m.Aggregation = map[usage.Aggregation]usage.Aggregation{usage.Sum: usage.Count, usage.Count: usage.Sum}[m.Aggregation]
			w.Apply(t, *m)
		}
		same("other aggregations", "6", "60", "20", "6")
		if archive != "" {
			if got := len(archived(t, archive)); got != 20 {
				t.Errorf("%d events are in files, want 12 of months that were dropped and 8 late ones", got)
			}
		}
	}
}

// However dropping is interrupted, each event is in the files or in the database, none is in the
// files twice, and what is shown stays.
func TestDropLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	w := byTheMonth(t, "2026-11-21 12:00", "2026-08-01")
	folder := filepath.Join(t.TempDir(), "made when needed")
	w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard), usagetest.Meter("disk", usage.LastValue, usage.Never, usage.Hard))
	want := map[uuid.UUID]bool{}
	tenants := []uuid.UUID{w.NewTenant(t), w.NewTenant(t)}
	for _, tenantID := range tenants {
		var batch []usage.Recording
		for i := range 300 {
			batch = append(batch, usagetest.On(usagetest.Keyed(usagetest.Recording([]string{"calls", "disk"}[i%2], "1"), strconv.Itoa(i)),
				[]string{"2026-09-01", "2026-08-31 23:59:59", "2026-09-02 07:00", "2026-07-01"}[i%4]))
		}
		outcomes, err := w.RecordBatch(t.Context(), tenantID, batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			want[o.Event.ID] = true
		}
	}
	r := retention.NewOfFiles(w.Retention(folder), 40)
	for stop := 1; ; stop += 1 + stop/9 { // the context ends after any number of its uses
		err := r.Prune(&failing{Context: t.Context(), left: stop})
		left := map[uuid.UUID]bool{}
		query := `SELECT id FROM usage_records`
		detached, e := w.Months().AllDetached(t.Context())
		if e != nil {
			t.Fatal(e)
		}
		for _, m := range detached {
			query += ` UNION ALL SELECT id FROM ` + m.Detached()
		}
		w.Each(t, query, nil, func(scan func(...any) error) error {
			var id uuid.UUID
			err := scan(&id)
			left[id] = true
			return err
		})
		seen := map[uuid.UUID]bool{}
		for _, line := range archived(t, folder) {
			if seen[line.ID] || !want[line.ID] {
				t.Fatalf("stopped after %d: %v is doubled or no event", stop, line)
			}
			seen[line.ID] = true
		}
		for id := range want {
			if !seen[id] && !left[id] {
				t.Fatalf("stopped after %d: %v is lost", stop, id)
			}
		}
		if got := w.Detail(t, tenants[0], "calls").Current; got != usagetest.Total("150") {
			t.Fatalf("stopped after %d: shows %s", stop, got)
		}
		if n := w.Recount(t); n != 0 {
			t.Fatalf("stopped after %d: %d counters are wrong", stop, n)
		}
		if err == nil {
			if len(left) > 0 || len(seen) != len(want) {
				t.Fatalf("%d left, %d in files", len(left), len(seen))
			}
			break
		}
	}
}

// While months are made and dropped by several instances at once, everybody records, late events
// and keys of all months too: each key is stored once, and nothing fails or is lost.
func TestMonthsChangeUnderLoad(t *testing.T) {
	t.Parallel()
	w := byTheMonth(t, "2026-11-21 12:00", "2026-08-01")
	w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard), usagetest.Meter("count", usage.Count, usage.Never, usage.Hard))
	tenants := []uuid.UUID{w.NewTenant(t), w.NewTenant(t), w.NewTenant(t)}
	days := []string{"2026-11-20", "2026-09-15 12:00", "2026-08-02", "2026-10-30", "2020-01-01"}
	var batch []usage.Recording
	for i := range 500 {
		batch = append(batch, usagetest.On(usagetest.Keyed(usagetest.Recording("calls", "1"), fmt.Sprint("first-", i)), days[i%len(days)]))
	}
	for _, id := range tenants {
		w.RecordAll(t, id, batch, true)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		w.Prune(t, w.Retention(""))
		for ctx.Err() == nil {
			w.Prune(t, w.Retention(""))
		}
	})
	for range 3 {
		wg.Go(func() {
			for at := usagetest.At("2025-01-01"); ctx.Err() == nil; at = at.AddDate(0, 1, 0) {
				if err := w.Months().Since(t.Context(), at.AddDate(0, 6, 0)); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	var stored, duplicates, total int
	for range dbtest.Rounds(5, 30) {
		// Four record each key, each for another month.
		s, d, _ := w.Race(t, 200, func(i int) uuid.UUID { return tenants[i%3] }, func(i int) usage.Recording {
			return usagetest.On(usagetest.Keyed(usagetest.Recording("calls", "1"), fmt.Sprint("raced-", total+i/12)), days[i/3%4])
		})
		stored, duplicates, total = stored+s, duplicates+d, total+17
	}
	cancel()
	wg.Wait()
	if want := 3 * total; stored != want || duplicates != 200*total/17-want {
		t.Errorf("%d stored and %d duplicates of %d keys", stored, duplicates, want)
	}
	for _, id := range tenants {
		if got := w.Detail(t, id, "calls").Current; got != usagetest.Total(strconv.Itoa(500+total)) {
			t.Errorf("shows %s, want %d", got, 500+total)
		}
	}
	if n := w.Recount(t); n != 0 {
		t.Errorf("%d counters are wrong", n)
	}
}

// A tenant that is deleted while a month of its events is detached leaves nothing behind, and
// nothing of it is written to files afterwards.
func TestPurgeOfDetachedMonth(t *testing.T) {
	t.Parallel()
	w := byTheMonth(t, "2026-11-21 12:00", "2026-08-01")
	w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard))
	gone, stays := w.NewTenant(t), w.NewTenant(t)
	for _, id := range []uuid.UUID{gone, stays} {
		w.RecordAll(t, id, []usage.Recording{usagetest.On(usagetest.Keyed(usagetest.Recording("calls", "1"), "key"), "2026-09-15"), usagetest.Recording("calls", "1")}, true)
	}
	months, err := w.Months().Before(t.Context(), usagetest.At("2026-10-01"))
	if err != nil || len(months) != 2 {
		t.Fatal(months, err)
	}
	if err := w.Months().Detach(t.Context(), months[1], func(context.Context, string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := w.Retention(folder).PurgeTenant(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if events, keys := rows(t, w, "usage_detached_2026_09"), rows(t, w, "usage_record_keys"); events != 1 || keys != 1 {
		t.Errorf("%d events and %d keys are left", events, keys)
	}
	w.Prune(t, w.Retention(folder))
	if lines := archived(t, folder); len(lines) != 1 || lines[0].TenantID != stays {
		t.Errorf("in files: %v", lines)
	}
}

// Killed after the files of a month are written and before it is dropped: nothing is written
// twice. A month with events of a stream that is not moved yet, and is not counted, stays.
func TestDropGoesOn(t *testing.T) {
	t.Parallel()
	w := byTheMonth(t, "2026-11-21 12:00", "2026-09-01")
	w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard))
	tenantID := w.NewTenant(t)
	var batch []usage.Recording
	for range 100 {
		batch = append(batch, usagetest.On(usagetest.Recording("calls", "1"), "2026-09-15"))
	}
	w.RecordAll(t, tenantID, batch, true)
	folder := t.TempDir()
	r := retention.NewOfFiles(w.Retention(folder), 40)
	exec := func(ctx context.Context, statement string) {
		t.Helper()
		if _, err := w.DB.Conn(ctx).ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(t.Context(), `UPDATE usage_streams SET moving = true`)
	w.Prune(t, r)
	if n := rows(t, w, "usage_records_2026_09"); n != 100 {
		t.Fatalf("September has %d events while its stream is moved", n)
	}
	exec(t.Context(), `UPDATE usage_streams SET moving = false`)
	held, release, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { // the detached table cannot be dropped
		done <- w.DB.Tx(t.Context(), func(ctx context.Context) error {
			month, err := w.Months().Before(ctx, usagetest.At("2026-10-01"))
			if err != nil {
				return err
			}
			return w.Months().Detach(ctx, month[0], func(context.Context, string) error { return nil })
		})
		done <- w.DB.Tx(t.Context(), func(ctx context.Context) error {
			_, err := w.DB.Conn(ctx).ExecContext(ctx, `LOCK TABLE usage_detached_2026_09 IN ACCESS SHARE MODE`)
			close(held)
			<-release
			return err
		})
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	<-held
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := r.Prune(ctx)
		cancel()
		if err == nil {
			t.Error("a table that is in use is dropped")
		}
		if n := len(archived(t, folder)); n != 100 {
			t.Errorf("%d events are in files", n)
		}
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.Prune(t, r)
	if n := len(archived(t, folder)); n != 100 || rows(t, w, "usage_detached_2026_09") != -1 {
		t.Errorf("%d events are in files", n)
	}
}
