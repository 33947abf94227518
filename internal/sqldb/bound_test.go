package sqldb_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// On SQLite, arguments are stored in the driver's format, with times truncated to microseconds.
func TestBoundAsByTheDriver(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	driver, err := sql.Open("sqlite", "file::memory:?"+sqldb.SQLiteParams)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = driver.Close() }()
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	id := uuid.New()
	for _, arg := range []any{
		at, at.Add(120 * time.Millisecond), at.Add(123456 * time.Microsecond), at.In(time.FixedZone("", -3*60*60-30*60)),
		at.Add(-time.Microsecond),
		time.Time{},
		time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
		&at, (*time.Time)(nil), id, &id, (*uuid.UUID)(nil), sqldb.JSON(`{"a":1}`), sqldb.JSON(nil),
		nil, 7, int64(8), 1.5, true, "text", []byte("bytes"), new("text"), (*string)(nil),
	} {
		const query = `SELECT typeof($1), $1`
		var kind, wantKind string
		var got, want any
		scan(t, db, []any{&kind, &got}, query, arg)
		if err := driver.QueryRowContext(t.Context(), query, arg).Scan(&wantKind, &want); err != nil {
			t.Fatal(err)
		}
		if kind != wantKind || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%T %v is %s %v, want %s %v", arg, arg, kind, got, wantKind, want)
		}
	}
	var cut string
	scan(t, db, []any{&cut}, `SELECT $1`, at.Add(123456789))
	if cut != "2026-03-04 05:06:07.123456+00:00" {
		t.Errorf("a time is cut to %s", cut)
	}
}

// Many different times in one statement are all stored correctly.
func TestBoundTimes(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var rows []any
	for i := range 50 {
		rows = append(rows, i, at.Add(time.Duration(i*i%7)*time.Second), at.Add(time.Duration(i)*time.Minute))
	}
	values, args := sqldb.Values(db, 1, rows, "bigint", "timestamptz", "timestamptz")
	err := db.QueryAll(t.Context(), sqldb.Query{
		Doing: "read", Text: `SELECT v.column1, v.column2, v.column3 FROM (` + values + `) v`, Args: args,
		Row: func(scan func(...any) error) error {
			var i int
			var one, other string
			if err := scan(&i, &one, &other); err != nil {
				return err
			}
			const layout = "2006-01-02 15:04:05-07:00"
			if one != rows[3*i+1].(time.Time).Format(layout) || other != rows[3*i+2].(time.Time).Format(layout) {
				t.Errorf("%d has %s and %s", i, one, other)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}
