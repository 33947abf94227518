package sqldb_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// An ID is stored in 16 bytes on both databases, comes back as it was, is found, and sorts by
// its bytes.
func TestID(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		table := `CREATE TABLE compact (id /* postgres: */ uuid /* sqlite: BLOB */ NOT NULL PRIMARY KEY)`
		size := `SELECT pg_column_size(id) FROM compact LIMIT 1`
		if db.Dialect() == sqldb.SQLite {
			table, size = sqldb.DeriveSchema(table), `SELECT length(id) FROM compact LIMIT 1`
		}
		exec(t, db, table)
		low, high := sqldb.ID(uuid.MustParse("0196f000-0000-7000-8000-0000000000ff")), sqldb.ID(uuid.MustParse("f0000000-0000-7000-8000-000000000001"))
		exec(t, db, `INSERT INTO compact (id) VALUES ($1::uuid), ($2::uuid)`, high, low)
		var bytes int
		if scan(t, db, []any{&bytes}, size); bytes != 16 {
			t.Errorf("an id takes %d bytes", bytes)
		}
		var got sqldb.ID
		if scan(t, db, []any{&got}, `SELECT id FROM compact WHERE id = $1::uuid`, high); got != high {
			t.Errorf("%v comes back as %v", high, got)
		}
		var plain uuid.UUID
		if scan(t, db, []any{&plain}, `SELECT id FROM compact ORDER BY id LIMIT 1`); sqldb.ID(plain) != low {
			t.Errorf("%v comes first", plain)
		}
		var above int
		if scan(t, db, []any{&above}, `SELECT count(*) FROM compact WHERE id > $1::uuid`, low); above != 1 {
			t.Errorf("%d ids are above the lower", above)
		}
	})
}
