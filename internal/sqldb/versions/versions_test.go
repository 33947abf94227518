package versions

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/prepared"
)

// open opens a new database with one table.
func open(t testing.TB) (v *Versions, exec func(text string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	dsn := "file:" + path + "?_pragma=journal_mode(WAL)"
	v, w := New()
	pool, err := prepared.OpenWatched(dsn, w)
	if err != nil {
		t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	exec = func(text string) {
		t.Helper()
		if _, err := pool.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE one (id INTEGER PRIMARY KEY)`)
	if err := v.Open(t.Context(), path, dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Unfollow(); err != nil {
			t.Error(err)
		}
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		v.Close()
	})
	return v, exec
}

func (v *Versions) stampOf(ctx context.Context, query string) Stamp {
	n := v.Note()
	n.Read(ctx, query)
	return n.Stamp()
}

// Where the index of the log cannot be looked at, nothing ever holds.
func TestNothingHoldsWithoutAnIndex(t *testing.T) {
	t.Parallel()
	v, _ := open(t)
	s := v.stampOf(t.Context(), `SELECT * FROM one`)
	if !s.Holds() {
		t.Fatal("does not hold with one")
	}
	v.refused.Store(true)
	if s.Holds() || v.stampOf(t.Context(), `SELECT * FROM one`).Holds() {
		t.Error("holds")
	}
	v.refused.Store(false) // so that it is closed
}

// What SQLite does not understand is read from who knows what.
func TestUnknownQueriesDoNotHold(t *testing.T) {
	t.Parallel()
	v, exec := open(t)
	if v.stampOf(t.Context(), `SELECT * FROM two`).Holds() {
		t.Error("a query of no table holds")
	}
	exec(`CREATE TABLE two (id INTEGER PRIMARY KEY)`)
	s := v.stampOf(t.Context(), `SELECT * FROM two`)
	if !s.Holds() {
		t.Error("a new table is not known")
	}
	exec(`INSERT INTO one DEFAULT VALUES`)
	if !s.Holds() {
		t.Error("a change of another table touches it")
	}
	exec(`INSERT INTO two DEFAULT VALUES`)
	if s.Holds() {
		t.Error("holds after a change")
	}
}

// What a look at the index costs beside asking SQLite whether others have written.
func BenchmarkLook(b *testing.B) {
	v, _ := open(b)
	s := v.stampOf(b.Context(), `SELECT * FROM one`)
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			if !s.Holds() {
				b.Fatal("does not hold")
			}
		}
	})
	stmt, err := v.scout.conn.(driver.ConnPrepareContext).PrepareContext(b.Context(), "PRAGMA data_version")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = stmt.Close() }()
	var mu sync.Mutex
	b.Run("data_version", func(b *testing.B) {
		for b.Loop() {
			mu.Lock()
			_, err := firstRow(stmt)
			mu.Unlock()
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
