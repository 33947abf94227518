package usage

import (
	"fmt"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

func TestPlan(t *testing.T) {
	db := dbtest.New(t, sqldb.Postgres)
	w := newWorld(t, db, "2026-11-21 12:00")
	w.apply(t, meter("calls", Sum, Monthly, Hard))
	id := w.newTenant(t)
	for i := range 300 {
		if _, err := w.Record(t.Context(), id, recording("calls", "1").keyed(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	run := func(q string, args ...any) {
		rows, err := db.Conn(t.Context()).QueryContext(t.Context(), q, args...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var s string
			_ = rows.Scan(&s)
			t.Log(s)
		}
		rows.Close()
	}
	q := func(extra string) {
		args := []any{}
		for range 4 {
			args = append(args, sqldb.NewID(), sqldb.NewID(), "x")
		}
		run(`EXPLAIN SELECT k.column1, k.column2, (SELECT e.idempotency_key FROM usage_events e
WHERE e.tenant_id = k.column1 AND e.meter_id = k.column2 AND e.idempotency_key = k.column3 `+extra+`) FROM (VALUES `+tuples(4, "uuid", "uuid", "text")+`) k`, args...)
		t.Log("--")
	}
	q("")
	q("AND e.idempotency_key IS NOT NULL")
	ex := func(s string) {
		t.Log("## ", s)
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	ex("DROP INDEX usage_events_idempotency_key; CREATE UNIQUE INDEX usage_events_idempotency_key ON usage_events (tenant_id, meter_id, idempotency_key)")
	q("")
	ex("DROP INDEX usage_events_recorded_at_idx; CREATE INDEX usage_events_recorded_at_idx ON usage_events (tenant_id, meter_id, recorded_at, id)")
	q("")
	ex("DROP INDEX usage_events_idempotency_key; CREATE UNIQUE INDEX usage_events_idempotency_key ON usage_events (tenant_id, meter_id, idempotency_key) WHERE idempotency_key IS NOT NULL")
	q("")
	ex("DROP INDEX usage_events_recorded_at_idx; CREATE INDEX usage_events_recorded_at_idx ON usage_events (tenant_id, meter_id, recorded_at, id)")
	q("")
	ex("ANALYZE")
	q("")
}
