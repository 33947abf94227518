package retention_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// BenchmarkPrune measures how many old events are deleted per second, for streams with few and with
// many events. The hours are summed beforehand, as in production. Tests keep SQLite in memory.
//
//	go test ./internal/usage/retention -run '^$' -bench Prune -benchtime 1x
func BenchmarkPrune(b *testing.B) {
	for _, dialect := range dbtest.Dialects(b) {
		for _, ofStream := range []int{20, 250, 20_000} {
			b.Run(fmt.Sprintf("%s/events=%d", dialect, ofStream), func(b *testing.B) { benchPrune(b, dialect, ofStream) })
		}
	}
}

func benchPrune(b *testing.B, dialect sqldb.Dialect, ofStream int) {
	const events = 40_000
	db := dbtest.New(b, dialect)
	now := clock.System().Now()
	r := retention.New(retention.Deps{DB: db, Clock: clock.System(), Log: slog.New(slog.DiscardHandler), Keep: retention.MinRetention})
	var deleting time.Duration
	for b.Loop() {
		fill(b, db, now, events/ofStream, ofStream)
		began := clock.System().Now()
		if err := r.Prune(b.Context()); err != nil {
			b.Fatal(err)
		}
		deleting += clock.System().Now().Sub(began)
		var left int
		if err := db.Conn(b.Context()).QueryRowContext(b.Context(), `SELECT count(*) FROM usage_events`).Scan(&left); err != nil || left != 0 {
			b.Fatalf("%d events are left: %v", left, err)
		}
	}
	b.ReportMetric(float64(events*b.N)/deleting.Seconds(), "events/s")
}

// fill stores old events of new streams and sums their hours.
func fill(b *testing.B, db *sqldb.DB, now time.Time, streams, ofStream int) {
	b.Helper()
	exec := func(ctx context.Context, query string, args ...any) {
		if _, err := db.Conn(ctx).ExecContext(ctx, query, args...); err != nil {
			b.Fatal(err)
		}
	}
	meter := uuid.New()
	err := db.Tx(b.Context(), func(ctx context.Context) error {
		exec(ctx, `INSERT INTO meters (id, code, name, aggregation_type, reset_interval, quota_enforcement, created_at, updated_at)
			VALUES ($1, $2, 'Bench', 'sum', 'monthly', 'hard', $3, $3)`, meter, meter.String(), now)
		for range streams {
			tenant := sqldb.NewID()
			exec(ctx, `INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'Bench', $2, 'EUR', $3, $3)`,
				tenant, tenant.String(), now)
			exec(ctx, `INSERT INTO usage_streams (tenant_id, meter_id, summed_before) VALUES ($1, $2, $3)`, tenant, meter, now.Truncate(time.Hour))
			for i := 0; i < ofStream; {
				var rows []any
				for ; i < ofStream && len(rows) < 500*7; i++ {
					at := now.AddDate(0, 0, -60).Add(time.Duration(i) * time.Second)
					rows = append(rows, tenant, meter, at, sqldb.NewID(), 1_000_000, fmt.Sprintf("request-%d", i), at)
				}
				values, args := sqldb.Values(db, 1, rows, "uuid", "uuid", "timestamptz", "uuid", "bigint", "text", "timestamptz")
				exec(ctx, `INSERT INTO usage_events (tenant_id, meter_id, recorded_at, id, quantity, idempotency_key, created_at) `+values+` ON CONFLICT DO NOTHING`, args...)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPruneBeside is like BenchmarkPrune, but on disk and while the process records a thousand
// events per second with as many callers as necessary. It shows how much capacity deletion leaves
// for other work. The database is a new SQLite file, or the empty database named by
// TENANTRY_BENCH_DATABASE_URL, such as a PostgreSQL server that waits for its disk.
//
//	go test ./internal/usage/retention -run '^$' -bench PruneBeside -benchtime 1x
func BenchmarkPruneBeside(b *testing.B) {
	const old, ofStream, wanted, callers = 200_000, 250, 1000, 32
	url := cmp.Or(os.Getenv("TENANTRY_BENCH_DATABASE_URL"), sqldb.FileURL(filepath.Join(b.TempDir(), "bench.db")))
	db := dbtest.Open(b, url)
	if err := db.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	w := usagetest.NewIdle(db, "2026-11-21 12:00")
	code := "calls-" + sqldb.NewID().String()
	w.Apply(b, usagetest.Meter(code, usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
	tenants := make([]uuid.UUID, 64)
	for i := range tenants {
		tenants[i] = w.NewTenant(b)
	}
	svc := usage.NewService(w.Deps())
	r := retention.New(retention.Deps{DB: db, Clock: w.Clock, Log: slog.New(slog.DiscardHandler), Keep: retention.MinRetention})
	var deleting time.Duration
	var recorded atomic.Int64
	for b.Loop() {
		fill(b, db, w.Clock.Now(), old/ofStream, ofStream)
		ctx, stop := context.WithCancel(b.Context())
		var load sync.WaitGroup
		load.Go(func() { _ = svc.Run(ctx) })
		for caller := range callers {
			load.Go(func() {
				tick := time.NewTicker(time.Second * callers / wanted)
				defer tick.Stop()
				for i := 0; ; i++ {
					select {
					case <-ctx.Done():
						return
					case <-tick.C:
					}
					_, err := svc.Record(ctx, tenants[(caller+i)%len(tenants)], usagetest.WithKey(usagetest.Recording(code, "1"), sqldb.NewID().String()))
					if err == nil {
						recorded.Add(1)
					} else if ctx.Err() == nil {
						b.Error(err)
					}
				}
			})
		}
		began := clock.System().Now()
		for left := 1; left > 0; { // each run of the job is limited in time
			if err := r.Prune(b.Context()); err != nil {
				b.Fatal(err)
			}
			row := db.Conn(b.Context()).QueryRowContext(b.Context(), `SELECT count(*) FROM usage_events WHERE recorded_at < $1`, w.Clock.Now().AddDate(0, 0, -50))
			if err := row.Scan(&left); err != nil {
				b.Fatal(err)
			}
		}
		deleting += clock.System().Now().Sub(began)
		stop()
		load.Wait()
	}
	b.ReportMetric(float64(old*b.N)/deleting.Seconds(), "deleted/s")
	b.ReportMetric(float64(recorded.Load())/deleting.Seconds(), "recorded/s")
}
