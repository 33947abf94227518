package sqldb_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// probes is a table with every column type of the schema.
const probes = `CREATE TABLE probes (
	id bigint PRIMARY KEY, name text, at timestamp with time zone, ok boolean, doc jsonb, ref uuid, small integer)`

// newProbes creates an empty table probes.
func newProbes(t *testing.T, db *sqldb.DB) {
	t.Helper()
	text := probes
	if db.Dialect() == sqldb.SQLite {
		text = sqldb.DeriveSchema(text)
	}
	exec(t, db, text)
}

func exec(t *testing.T, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// scan reads the first row of query.
func scan(t *testing.T, db *sqldb.DB, dest []any, query string, args ...any) {
	t.Helper()
	if err := db.Conn(t.Context()).QueryRowContext(t.Context(), query, args...).Scan(dest...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Each query has the same meaning and returns the same text on both databases.
func TestSameQueriesSameAnswers(t *testing.T) {
	t.Parallel()
	const upsert = `INSERT INTO probes (id, name, small) VALUES ($1, $2, 1)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, small = probes.small + 1 WHERE probes.small < $3`
	tests := []struct {
		name  string
		setup string
		query string
		args  []any
		want  string
	}{
		{name: "returning", query: `INSERT INTO probes (id, name) VALUES ($1, $2) RETURNING name || '!'`, args: []any{7, "a"}, want: "a!"},
		{name: "upsert", setup: `INSERT INTO probes (id, name, small) VALUES (1, 'old', 1)`, query: upsert + ` RETURNING name || small::text`, args: []any{1, "new", 5}, want: "new2"},
		{name: "a parameter used twice", query: `SELECT CASE WHEN $1::bigint = 3 AND $1::bigint < $2::bigint THEN 'yes' ELSE 'no' END`, args: []any{3, 4}, want: "yes"},
		{name: "parameters out of order", setup: `INSERT INTO probes (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')`, query: `SELECT name FROM probes ORDER BY id LIMIT $2 OFFSET $1`, args: []any{1, 1}, want: "b"},
		{name: "row lock", setup: `INSERT INTO probes (id, name) VALUES (1, 'a')`, query: `SELECT name FROM probes p WHERE id = 1 FOR UPDATE OF p SKIP LOCKED`, want: "a"},
		{name: "cast in a literal", query: `SELECT 'a::text FOR UPDATE'`, want: "a::text FOR UPDATE"},
		{name: "cast next to a quoted literal", query: `SELECT 'it''s ::' || '1'::text`, want: "it's ::1"},
		{name: "comments", query: "-- it's a ::comment\nSELECT /* FOR UPDATE ' */ 'x'::text -- end", want: "x"},
		{name: "filter", setup: `INSERT INTO probes (id, ok) VALUES (1, true), (2, false), (3, true)`, query: `SELECT (count(*) FILTER (WHERE ok))::text FROM probes`, want: "2"},
		{name: "row number", setup: `INSERT INTO probes (id, name) VALUES (1, 'a'), (2, 'b')`, query: `WITH n AS (SELECT name, row_number() OVER (ORDER BY id DESC) AS r FROM probes) SELECT name FROM n WHERE r = 1`, want: "b"},
		{name: "update from", setup: `INSERT INTO probes (id, name) VALUES (1, 'a'), (2, 'b')`, query: `UPDATE probes SET name = o.name FROM probes o WHERE probes.id = 1 AND o.id = 2 RETURNING probes.name`, want: "b"},
		{name: "update by a common table expression", setup: `INSERT INTO probes (id, name) VALUES (1, 'a')`, query: `WITH p AS MATERIALIZED (SELECT id FROM probes LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE probes SET name = 'z' WHERE id IN (SELECT id FROM p) RETURNING name`, want: "z"},
		{name: "keyset", setup: `INSERT INTO probes (id, name) VALUES (1, 'a'), (2, 'a'), (3, 'b')`, query: `SELECT id::text FROM probes WHERE (name, id) > ('a', 1) ORDER BY name, id LIMIT 1`, want: "2"},
		{name: "json member", setup: `INSERT INTO probes (id, doc) VALUES (1, '{"en":"Plan","n":1}')`, query: `SELECT doc->>'en' FROM probes`, want: "Plan"},
		{name: "nulls are distinct", query: `SELECT CASE WHEN NULL IS NOT DISTINCT FROM NULL THEN 'same' ELSE 'other' END`, want: "same"},
		{name: "text order is by byte", query: `SELECT CASE WHEN 'B' < 'a' THEN 'bytes' ELSE 'words' END`, want: "bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				newProbes(t, db)
				if test.setup != "" {
					exec(t, db, test.setup)
				}
				var got string
				scan(t, db, []any{&got}, test.query, test.args...)
				if got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

type row struct {
	ID    int64
	Name  *string
	At    *time.Time
	OK    *bool
	Doc   sqldb.JSON
	Small *int32
}

// Values are returned as they were stored, with times in UTC and truncated to microseconds.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	paris := time.FixedZone("CET", 3600)
	noon := time.Date(2026, 1, 31, 12, 0, 0, 123456789, paris)
	utc := time.Date(2026, 1, 31, 11, 0, 0, 123456000, time.UTC)
	whole := time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		in   row
		want row
	}{
		"nulls":             {in: row{ID: 1}, want: row{ID: 1}},
		"zero values":       {in: row{Name: new(""), OK: new(false), Small: new(int32(0))}, want: row{Name: new(""), OK: new(false), Small: new(int32(0))}},
		"large number":      {in: row{ID: 1 << 62}, want: row{ID: 1 << 62}},
		"negative number":   {in: row{ID: -1 << 63, Small: new(int32(-1 << 31))}, want: row{ID: -1 << 63, Small: new(int32(-1 << 31))}},
		"boolean":           {in: row{OK: new(true)}, want: row{OK: new(true)}},
		"time":              {in: row{At: &noon}, want: row{At: &utc}},
		"time, no fraction": {in: row{At: &whole}, want: row{At: &whole}},
		"text":              {in: row{Name: new("Zoë's “plan” \\ \n 😀")}, want: row{Name: new("Zoë's “plan” \\ \n 😀")}},
		"json":              {in: row{Doc: sqldb.JSON(`{"a": [1, null, "é"]}`)}, want: row{Doc: sqldb.JSON(`{"a": [1, null, "é"]}`)}},
		"json null":         {in: row{Doc: sqldb.JSON(`null`)}, want: row{Doc: sqldb.JSON(`null`)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				newProbes(t, db)
				in := test.in
				exec(t, db, `INSERT INTO probes (id, name, at, ok, doc, small) VALUES ($1, $2, $3, $4, $5, $6)`,
					in.ID, in.Name, in.At, in.OK, in.Doc, in.Small)
				var got row
				scan(t, db, []any{&got.ID, &got.Name, &got.At, &got.OK, &got.Doc, &got.Small},
					`SELECT id, name, at, ok, doc, small FROM probes`)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if got.At != nil && got.At.Location() != time.UTC {
					t.Errorf("the time is in %v, want UTC", got.At.Location())
				}
			})
		})
	}
}

// Times compare in the database as in Go, whatever their fraction.
func TestTimesCompare(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		newProbes(t, db)
		base := time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC)
		steps := []time.Duration{0, time.Microsecond, 10 * time.Microsecond, 100 * time.Millisecond, 100*time.Millisecond + time.Microsecond, time.Second}
		for i, step := range steps {
			exec(t, db, `INSERT INTO probes (id, at) VALUES ($1, $2)`, i, base.Add(step))
		}
		for i, step := range steps {
			var before int
			scan(t, db, []any{&before}, `SELECT count(*) FROM probes WHERE at < $1`, base.Add(step).In(time.FixedZone("", -7200)))
			if before != i {
				t.Errorf("%d times before %v, want %d", before, step, i)
			}
		}
	})
}

func TestViolationsAreRecognised(t *testing.T) {
	t.Parallel()
	const tenant, other = "019b76da-a800-7000-8000-00000000000a", "019b76da-a800-7000-8000-00000000000b"
	const insert = `INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at)
		VALUES ($1, 'x', $2, 'EUR', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`
	tests := []struct {
		name               string
		query              string
		args               []any
		unique, foreignKey bool
		missingTable       bool
	}{
		{name: "primary key", query: insert, args: []any{tenant, "b"}, unique: true},
		{name: "unique index", query: insert, args: []any{other, "a"}, unique: true},
		{name: "missing reference", query: `INSERT INTO psp_customers (tenant_id, psp_customer_id, created_at) VALUES ($1, 'c', '2026-01-01 00:00:00+00:00')`, args: []any{other}, foreignKey: true},
		{name: "null", query: `UPDATE tenants SET name = NULL`},
		{name: "syntax", query: `SELEC 1`},
		{name: "missing table", query: `UPDATE absent SET name = NULL`, missingTable: true},
		{name: "missing column", query: `UPDATE tenants SET absent = NULL`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				exec(t, db, insert, tenant, "a")
				_, err := db.Conn(t.Context()).ExecContext(t.Context(), test.query, test.args...)
				if err == nil {
					t.Fatal("no error")
				}
				if got := sqldb.IsUnique(err); got != test.unique {
					t.Errorf("IsUnique is %v for %v", got, err)
				}
				if got := sqldb.IsForeignKey(err); got != test.foreignKey {
					t.Errorf("IsForeignKey is %v for %v", got, err)
				}
				if got := sqldb.IsMissingTable(err); got != test.missingTable {
					t.Errorf("IsMissingTable is %v for %v", got, err)
				}
			})
		})
	}
}

func TestNoRows(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var id string
		err := db.Conn(context.Background()).QueryRowContext(t.Context(), `SELECT id FROM tenants`).Scan(&id)
		if !errors.Is(err, sqldb.ErrNoRows) {
			t.Errorf("got %v, want ErrNoRows", err)
		}
	})
}
