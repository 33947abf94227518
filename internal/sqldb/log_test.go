package sqldb_test

import (
	"os"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// A log that has become long is written back before the next transaction, not within the commit
// that has made it so long, and begins anew. What was read before holds all along.
func TestLongLogIsWrittenBack(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	exec(t, db, `CREATE TABLE others (id bigint PRIMARY KEY)`)
	kept := &lookUps{db: db, kept: map[string]lookedUp{}}
	kept.get(t, "SELECT count(*) FROM others")
	const part = 1 << 20
	rounds, written := 0, 0
	for before := int64(0); rounds < 2; written++ {
		if written > 3*sqldb.LongLog/part {
			t.Fatalf("the log has %d bytes after %d MiB", before, written)
		}
		file := size(t, db.File())
		exec(t, db, `INSERT INTO probes (id, name) VALUES ($1, hex(zeroblob($2)))`, written, part/2)
		log := db.LogSize()
		switch {
		case log < part || log > sqldb.LongLog+2*part:
			t.Fatalf("the log has %d bytes", log)
		case log >= sqldb.LongLog && size(t, db.File()) != file:
			t.Fatal("a log that has become long is written back within the commit")
		case log < before && before < sqldb.LongLog:
			t.Fatalf("it began anew with %d bytes", before)
		case log < before:
			rounds++
		}
		before = log
		kept.check(t, "writing", "SELECT count(*) FROM others")
	}
	if kept.hits != written {
		t.Errorf("of %d look-ups %d were kept", written, kept.hits)
	}
	var stored int
	if scan(t, db, []any{&stored}, `SELECT count(*) FROM probes WHERE length(name) = $1`, part); stored != written {
		t.Errorf("%d of %d are stored", stored, written)
	}
}

// size returns how long a file is, in bytes.
func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
