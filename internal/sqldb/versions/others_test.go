package versions

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/prepared"
)

// meanwhile is a Writer that lets others do something after a statement, before it is told of its end.
type meanwhile struct {
	*Writer
	others func()
}

func (m *meanwhile) Ended(err error) {
	if m.committing && m.others != nil {
		others := m.others
		m.others = nil
		others()
	}
	m.Writer.Ended(err)
}

// What another connection writes ends all that was read before, whenever it comes: also after a
// commit of this one that is not settled yet, whether that has changed anything or not. What this
// one changes alone ends nothing else.
func TestOthersAreNoticed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	dsn := "file:" + path + "?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)"
	v, w := New()
	watched := &meanwhile{Writer: w}
	pool, err := prepared.OpenWatched(dsn, watched)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	other, err := prepared.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Unfollow(); err != nil {
			t.Error(err)
		}
		_ = other.Close()
		_ = pool.Close()
		v.Close()
	})
	exec := func(text string) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	theirs := func() {
		if _, err := other.ExecContext(t.Context(), `INSERT INTO two DEFAULT VALUES`); err != nil {
			t.Error(err)
		}
	}
	exec(`CREATE TABLE one (id INTEGER PRIMARY KEY)`)
	exec(`CREATE TABLE two (id INTEGER PRIMARY KEY)`)
	if err := v.Open(t.Context(), path, dsn); err != nil {
		t.Fatal(err)
	}
	theirs()
	exec(`INSERT INTO one DEFAULT VALUES`)
	for name, change := range map[string]func(){
		"alone":               func() { exec(`INSERT INTO one DEFAULT VALUES`) },
		"alone, in a new log": func() { exec(`INSERT INTO one DEFAULT VALUES`) }, // it was written back before
		"alone, nothing":      func() { exec(`BEGIN IMMEDIATE`); exec(`COMMIT`) },
		"alone, undone": func() {
			exec(`BEGIN IMMEDIATE`)
			exec(`SAVEPOINT member`)
			exec(`INSERT INTO one DEFAULT VALUES`)
			exec(`ROLLBACK TO member`)
			exec(`COMMIT`)
		},
		"before":        func() { theirs(); exec(`INSERT INTO one DEFAULT VALUES`) },
		"before, twice": func() { theirs(); theirs(); exec(`INSERT INTO one DEFAULT VALUES`) },
		"before an empty one": func() {
			theirs()
			exec(`BEGIN IMMEDIATE`)
			exec(`COMMIT`)
		},
		"after":        func() { watched.others = theirs; exec(`INSERT INTO one DEFAULT VALUES`) },
		"after, twice": func() { watched.others = func() { theirs(); theirs() }; exec(`INSERT INTO one DEFAULT VALUES`) },
		"after an empty one": func() {
			watched.others = theirs
			exec(`BEGIN IMMEDIATE`)
			exec(`COMMIT`)
		},
		"after one that was undone": func() {
			watched.others = theirs
			exec(`BEGIN IMMEDIATE`)
			exec(`SAVEPOINT member`)
			exec(`INSERT INTO one DEFAULT VALUES`)
			exec(`ROLLBACK TO member`)
			exec(`COMMIT`)
		},
	} {
		alone := strings.HasPrefix(name, "alone")
		if name == "alone, in a new log" {
			if _, err := other.ExecContext(t.Context(), `PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
				t.Fatal(err)
			}
		}
		two := v.stampOf(t.Context(), `SELECT * FROM two`)
		if !two.Holds() {
			t.Fatalf("%s: does not hold before", name)
		}
		change()
		if watched.others != nil {
			t.Fatalf("%s: nobody has written meanwhile", name)
		}
		if two.Holds() != alone {
			t.Errorf("%s: holds: %t", name, !alone)
		}
		if two = v.stampOf(t.Context(), `SELECT * FROM two`); !two.Holds() {
			t.Errorf("%s: what is read now does not hold", name)
		}
	}
}
