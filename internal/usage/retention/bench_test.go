package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
	"github.com/tenantry/tenantry/internal/usage/events"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// BenchmarkPrune measures how many old events a second are deleted, of streams with few and
// with many events. The hours are summed before, as the job has done it long ago. Tests keep
// SQLite in memory.
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
	r := retention.New(retention.Deps{DB: db, Clock: clock.System(), Log: slog.New(slog.DiscardHandler), Keep: retention.Shortest})
	var deleting time.Duration
	for b.Loop() {
		fill(b, db, now, events/ofStream, ofStream)
		began := clock.System().Now()
		if err := r.Prune(b.Context()); err != nil {
			b.Fatal(err)
		}
		deleting += clock.System().Now().Sub(began)
		var left int
		if err := db.Conn(b.Context()).QueryRowContext(b.Context(), `SELECT count(*) FROM usage_stored`).Scan(&left); err != nil || left != 0 {
			b.Fatalf("%d events are left: %v", left, err)
		}
	}
	b.ReportMetric(float64(events*b.N)/deleting.Seconds(), "events/s")
}

// fill stores old events of new streams, whose hours are summed.
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
			number := events.NewNumber()
			exec(ctx, `INSERT INTO usage_streams (tenant_id, meter_id, number, summed_before) VALUES ($1, $2, $3, $4)`, tenant, meter, number, now.Truncate(time.Hour))
			for i := 0; i < ofStream; {
				var args []any
				for ; i < ofStream && len(args) < 500*7; i++ {
					at := now.AddDate(0, 0, -60).Add(time.Duration(i) * time.Second)
					args = append(args, sqldb.ID(tenant), number, at, 1_000_000, 0, sqldb.ID(sqldb.NewID()), fmt.Sprintf("request-%d", i))
				}
				exec(ctx, `INSERT INTO usage_records (tenant_id, stream, recorded_at, quantity, delay, id, idempotency_key) VALUES `+
					sqldb.Tuples(1, len(args)/7, "uuid", "bigint", "timestamptz", "bigint", "bigint", "uuid", "text"), args...)
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
