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
	v, _, exec = openWriter(t)
	return v, exec
}

// openWriter is open with who follows the writing connection.
func openWriter(t testing.TB) (v *Versions, w *Writer, exec func(text string)) {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "test.db"))
}

// openFile is openWriter for a file that may be there.
func openFile(t testing.TB, path string) (v *Versions, w *Writer, exec func(text string)) {
	t.Helper()
	dsn := "file:" + path + "?_pragma=journal_mode(WAL)"
	v, w = New()
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
	exec(`CREATE TABLE IF NOT EXISTS one (id INTEGER PRIMARY KEY)`)
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
	return v, w, exec
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

// Two look at the index of one file. That one of them is closed twice takes nothing from the
// other, nor a descriptor from whoever has got its number since.
func TestClosedTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	one, _, _ := openFile(t, path)
	other, _, _ := openFile(t, path)
	one.Close()
	one.Close()
	if users := other.index.users; users != 1 {
		t.Errorf("%d look at the index, want the other one", users)
	}
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

// From the moment in which others can see a commit nothing holds that was read before, also
// while its numbers are being settled.
func TestNothingHoldsBeforeItIsSettled(t *testing.T) {
	t.Parallel()
	v, w, exec := openWriter(t)
	for range 5 {
		s := v.stampOf(t.Context(), `SELECT * FROM one`)
		if !s.Holds() {
			t.Fatal("does not hold")
		}
		before := v.index.state()
		exec(`BEGIN`)
		exec(`INSERT INTO one DEFAULT VALUES`)
		others := make([]cell, 1<<20) // so that settling takes long
		for i := range others {
			others[i].by = 1
			w.dirty = append(w.dirty, &others[i])
		}
		last := len(w.dirty) - 1
		w.dirty[0], w.dirty[last] = w.dirty[last], w.dirty[0]
		looks, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			for late := 0; late < 1000; {
				seen := v.index.state() != before
				if s.Holds() && seen {
					t.Error("holds after a commit")
					return
				}
				if looks++; seen {
					late++
				}
			}
		}()
		exec(`COMMIT`)
		<-done
		if looks == 0 {
			t.Error("nobody has looked")
		}
	}
}

// A change that was undone ends nothing, neither at once nor with the next commit.
func TestUndoneChangesNothing(t *testing.T) {
	t.Parallel()
	v, exec := open(t)
	exec(`CREATE TABLE two (id INTEGER PRIMARY KEY)`)
	s := v.stampOf(t.Context(), `SELECT * FROM one`)
	exec(`BEGIN`)
	exec(`INSERT INTO one DEFAULT VALUES`)
	exec(`ROLLBACK`)
	if !s.Holds() {
		t.Error("does not hold after it was undone")
	}
	exec(`INSERT INTO two DEFAULT VALUES`)
	if !s.Holds() {
		t.Error("does not hold after the next commit")
	}
}

// What a query reads is asked anew when the schema has changed.
func TestQueriesFollowTheSchema(t *testing.T) {
	t.Parallel()
	v, exec := open(t)
	exec(`CREATE TABLE two (id INTEGER PRIMARY KEY)`)
	exec(`CREATE VIEW shown AS SELECT * FROM one`)
	const query = `SELECT * FROM shown`
	v.stampOf(t.Context(), query)
	exec(`DROP VIEW shown`)
	exec(`CREATE VIEW shown AS SELECT * FROM two`)
	s := v.stampOf(t.Context(), query)
	exec(`INSERT INTO one DEFAULT VALUES`)
	if !s.Holds() {
		t.Error("a change of what it read before touches it")
	}
	exec(`INSERT INTO two DEFAULT VALUES`)
	if s.Holds() {
		t.Error("holds after a change of what it reads now")
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
