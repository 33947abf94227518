package mover_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/events"
	"github.com/tenantry/tenantry/internal/usage/history"
	"github.com/tenantry/tenantry/internal/usage/meters"
	"github.com/tenantry/tenantry/internal/usage/mover"
	"github.com/tenantry/tenantry/internal/usage/retention"
	"github.com/tenantry/tenantry/internal/usage/usagetest"
)

func exec(t *testing.T, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, db *sqldb.DB, query string) (n int) {
	t.Helper()
	if err := db.Conn(t.Context()).QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// hold is the time after an upgrade, in which streams get no numbers.
func hold(t *testing.T, db *sqldb.DB) {
	t.Helper()
	exec(t, db, `UPDATE usage_layout SET numbered_from = $1`, usagetest.At("2999-01-01"))
}

func release(t *testing.T, db *sqldb.DB) {
	t.Helper()
	exec(t, db, `UPDATE usage_layout SET numbered_from = $1`, usagetest.At("2000-01-01"))
}

// all reads a meter's events as an export has them.
func all(t *testing.T, w *usagetest.World, tenantID uuid.UUID, code string) string {
	t.Helper()
	r := history.NewReader(w.DB, w.Clock)
	entries, err := w.Meters.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(entries, func(e meters.Entry) bool { return e.Code == code })
	file := r.Export(t.Context(), tenantID, entries[i].Meter, usage.AllTime(), true)
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// While instances of the version before may run, events are stored where these find them.
// Afterwards they are moved, and everything that shows them stays as it was.
func TestMoveChangesNothingThatIsShown(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		hold(t, db)
		w := usagetest.New(t, db, "2026-11-21 12:00")
		sum, last := usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard), usagetest.Meter("disk", usage.LastValue, usage.Daily, usage.Soft)
		w.Apply(t, sum, last)
		tenantID := w.NewTenant(t)
		var batch []usage.Recording
		for i := range 900 { // more than one transaction moves, many for the same time
			r := usagetest.On(usagetest.Recording([]string{"calls", "disk"}[i%2], fmt.Sprint(i)), []string{"2026-11-21", "2026-11-20 07:30", "2026-09-01 10:00:00.000001"}[i%3])
			if i%5 > 0 {
				r = usagetest.Keyed(r, fmt.Sprint("key-", i))
				r.Metadata = sqldb.JSON(`{"a":"<ü>"}`)
			}
			batch = append(batch, r)
		}
		w.RecordAll(t, tenantID, batch, true)
		m := mover.New(db, w.Months())
		if err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, `SELECT count(*) FROM usage_events`); n != len(batch) {
			t.Fatalf("%d events are where the version before finds them", n)
		}
		shown := func() []any {
			return []any{all(t, w, tenantID, "calls"), all(t, w, tenantID, "disk"), w.Detail(t, tenantID, "calls"), w.Detail(t, tenantID, "disk"), w.Recount(t)}
		}
		stored := func() []string {
			var times []string
			w.Each(t, `SELECT stored_base, stored_delay FROM usage_stored ORDER BY recorded_at, id`, nil, func(scan func(...any) error) error {
				var base time.Time
				var delay int64
				err := scan(&base, &delay)
				times = append(times, base.Add(time.Duration(delay)*time.Microsecond).UTC().String())
				return err
			})
			return times
		}
		before, storedBefore := shown(), stored()
		release(t, db)
		if err := m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, db, `SELECT count(*) FROM usage_events`) + count(t, db, `SELECT count(*) FROM usage_streams WHERE number IS NULL OR moving`); n != 0 {
			t.Errorf("%d events or streams are left", n)
		}
		if n := count(t, db, `SELECT count(*) FROM usage_records`); n != len(batch) {
			t.Errorf("%d events are moved", n)
		}
		if diff := cmp.Diff(before, shown()); diff != "" {
			t.Errorf("-before +after\n%s", diff)
		}
		if diff := cmp.Diff(storedBefore, stored()); diff != "" {
			t.Errorf("when they were stored: -before +after\n%s", diff)
		}
		if _, err := w.Record(t.Context(), tenantID, usagetest.Keyed(usagetest.Recording("calls", "0"), "key-2")); !errors.Is(err, usage.ErrDuplicate) {
			t.Errorf("a key of a moved event: %v", err)
		}
	})
}

// However often the move is killed, and whatever is recorded meanwhile: each acknowledged
// event is there once, a key works once, and whoever reads sees no event missing or doubled.
func TestMoveUnderLoad(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		hold(t, db)
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard), usagetest.Meter("disk", usage.Count, usage.Monthly, usage.Soft))
		tenants := []uuid.UUID{w.NewTenant(t), w.NewTenant(t), w.NewTenant(t)}
		w.Plans.Grant(tenants[0], usage.Allowance{Limits: map[string]int64{"calls": 700}}) // duplicates at the limit too
		type place struct {
			tenant uuid.UUID
			code   string
			key    int
		}
		var mu sync.Mutex
		acknowledged := map[place]int{}
		record := func(svc *usage.Service, p place) {
			_, err := svc.Record(t.Context(), p.tenant, usagetest.Keyed(usagetest.Recording(p.code, "1"), fmt.Sprint(p.key)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				acknowledged[p]++
			case errors.Is(err, usage.ErrDuplicate), errors.Is(err, usage.ErrQuotaExceeded) && acknowledged[p] == 0:
			default:
				t.Errorf("%v: %v", p, err)
			}
		}
		for i := range 600 {
			record(w.Instances[i%2], place{tenants[i%3], []string{"calls", "disk"}[i%2], i / 3})
		}
		release(t, db)
		var wg sync.WaitGroup
		stop := make(chan struct{})
		for c := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(c)))
				for {
					select {
					case <-stop:
						return
					default:
						record(w.Instances[c%2], place{tenants[r.IntN(3)], []string{"calls", "disk"}[r.IntN(2)], r.IntN(1500)})
					}
				}
			})
		}
		wg.Go(func() { // a reader
			for had := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				n := count(t, db, `SELECT count(*) FROM usage_stored`)
				if doubled := count(t, db, `SELECT count(*) - count(DISTINCT id) FROM usage_stored`); n < had || doubled > 0 {
					t.Errorf("%d events after %d, %d doubled", n, had, doubled)
				}
				had = n
			}
		})
		m := mover.New(db, w.Months())
		m.AtOnce(20)
		deaths := 0
		for life := 100 * time.Microsecond; ; life += life / 8 { // it is killed when that is over, wherever it is
			ctx, cancel := context.WithTimeout(t.Context(), life)
			err := m.Run(ctx)
			cancel()
			if err == nil {
				break
			}
			if deaths++; life > 10*time.Second {
				t.Errorf("the move does not end: %v", err)
				break
			}
		}
		close(stop)
		wg.Wait()
		if deaths < 3 {
			t.Errorf("the move was killed %d times", deaths)
		}
		if n := count(t, db, `SELECT count(*) FROM usage_events`); n != 0 {
			t.Errorf("%d events are left", n)
		}
		for p, n := range acknowledged {
			if n > 1 {
				t.Errorf("%v was acknowledged %d times", p, n)
			}
			if _, err := w.Record(t.Context(), p.tenant, usagetest.Keyed(usagetest.Recording(p.code, "1"), fmt.Sprint(p.key))); !errors.Is(err, usage.ErrDuplicate) {
				t.Errorf("%v again: %v", p, err)
			}
		}
		if n := count(t, db, `SELECT count(*) FROM usage_stored`); n != len(acknowledged) {
			t.Errorf("%d events of %d", n, len(acknowledged))
		}
		if n := w.Recount(t); n != 0 {
			t.Errorf("%d counters are wrong", n)
		}
	})
}

// A stream whose events cannot be moved, as an instance of the version before has stored a key
// a second time, loses nothing and holds no other up.
func TestMoveGoesOnBesideAStreamThatFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		hold(t, db)
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard))
		tenants := []uuid.UUID{w.NewTenant(t), w.NewTenant(t), w.NewTenant(t)}
		for _, tenant := range tenants {
			w.RecordAll(t, tenant, []usage.Recording{usagetest.Keyed(usagetest.Recording("calls", "1"), "first"), usagetest.Recording("calls", "2")}, true)
		}
		exec(t, db, `UPDATE usage_streams SET number = 5, moving = true WHERE tenant_id = $1`, tenants[1])
		if _, err := events.NewStore(db).Insert(t.Context(), []events.Event{{
			Stream: events.StreamKey{TenantID: tenants[1]}, Number: new(int64(5)), ID: sqldb.NewID(), Quantity: 1, IdempotencyKey: new("first"),
			RecordedAt: usagetest.At("2026-11-21"), StoredAt: usagetest.At("2026-11-21"),
		}}); err != nil {
			t.Fatal(err)
		}
		release(t, db)
		if err := mover.New(db, w.Months()).Run(t.Context()); err == nil {
			t.Error("the move says nothing about the stream that failed")
		}
		if n := count(t, db, `SELECT count(*) FROM usage_events`); n != 2 {
			t.Errorf("%d events are left, 2 of which cannot be moved", n)
		}
		if n := count(t, db, `SELECT count(*) FROM usage_stored`); n != 7 {
			t.Errorf("%d events of 7", n)
		}
	})
}

// A tenant that is deleted while its events are moved leaves none behind.
func TestPurgeWhileMoving(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		hold(t, db)
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.Never, usage.Hard), usagetest.Meter("disk", usage.Count, usage.Monthly, usage.Soft))
		tenant, other := w.NewTenant(t), w.NewTenant(t)
		var batch []usage.Recording
		for i := range 3000 {
			batch = append(batch, usagetest.Keyed(usagetest.Recording([]string{"calls", "disk"}[i%2], "1"), fmt.Sprint(i)))
		}
		for some := range slices.Chunk(batch, 500) {
			w.RecordAll(t, tenant, some, true)
		}
		w.RecordAll(t, other, batch[:10], true)
		release(t, db)
		var wg sync.WaitGroup
		wg.Go(func() {
			m := mover.New(db, w.Months())
			m.AtOnce(50)
			if err := m.Run(t.Context()); err != nil {
				t.Error(err)
			}
		})
		for count(t, db, `SELECT count(*) FROM usage_records`) == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := retention.New(retention.Deps{DB: db, Clock: w.Clock}).PurgeTenant(t.Context(), tenant); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if n := count(t, db, `SELECT count(*) FROM usage_stored`); n != 10 {
			t.Errorf("%d events are left, and 10 of the other tenant were there", n)
		}
	})
}
