package versions_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
	"github.com/tenantry/tenantry/internal/sqldb/versions"
)

// Each column that is named in the code is in the database, and has texts: with another one
// every write to its table would end all that is kept.
func TestKeysAreColumns(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	for table, column := range versions.Keys {
		var kind string
		err := db.Conn(t.Context()).QueryRowContext(t.Context(),
			`SELECT type FROM pragma_table_info($1) WHERE name = $2`, table, column).Scan(&kind)
		if err != nil || kind != "TEXT" {
			t.Errorf("%s.%s is %q (%v), want TEXT", table, column, kind, err)
		}
	}
}
