package sqldb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// lookUps are queries whose results are kept for as long as their stamps hold.
type lookUps struct {
	db   *sqldb.DB
	kept map[string]lookedUp
	hits int
}

type lookedUp struct {
	value string
	stamp sqldb.Stamp
}

// read runs a query and returns all of its rows as a text.
func read(ctx context.Context, db *sqldb.DB, query string) (string, error) {
	rows, err := db.Conn(ctx).QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for rows.Next() {
		row, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			dest[i] = &row[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return "", err
		}
		fmt.Fprintln(&b, row...)
	}
	return b.String(), rows.Err()
}

// get returns what a query has found, of now or before. keys are as of Stamp.
func (l *lookUps) get(t *testing.T, query string, keys ...sqldb.Key) string {
	t.Helper()
	if known, ok := l.kept[query]; ok && known.stamp.Holds() {
		l.hits++
		return known.value
	}
	ctx, notes := l.db.Note(t.Context())
	value, err := read(ctx, l.db, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	l.kept[query] = lookedUp{value, notes.Stamp(keys...)}
	return value
}

// check fails t where a look-up is not what the database answers.
func (l *lookUps) check(t *testing.T, after, query string, keys ...sqldb.Key) {
	t.Helper()
	got := l.get(t, query, keys...)
	want, err := read(t.Context(), l.db, query)
	if err != nil || got != want {
		t.Fatalf("after %s\n%s\nis kept as\n%s\nand is\n%s(%v)", after, query, got, want, err)
	}
}

// Of writers and readers at the same time, whoever was answered finds what it wrote, and
// what is kept is what is there wherever it holds before and after.
func TestKeptAmongWriters(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	for i := range 8 {
		exec(t, db, `INSERT INTO probes (id, small) VALUES ($1, 0)`, i)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	hits := 0
	for i := range 8 {
		wg.Go(func() {
			l := &lookUps{db: db, kept: map[string]lookedUp{}}
			query := fmt.Sprintf("SELECT small FROM probes WHERE id = %d", i)
			for n := 1; n <= dbtest.Rounds(200, 2000); n++ {
				for range 3 {
					l.get(t, query)
				}
				err := db.Tx(t.Context(), func(ctx context.Context) error {
					_, err := db.Conn(ctx).ExecContext(ctx, `UPDATE probes SET small = $2 WHERE id = $1`, i, n)
					if err == nil && n%7 == 0 {
						err = errUndone
					}
					return err
				})
				want := n
				if errors.Is(err, errUndone) {
					want--
				} else if err != nil {
					t.Error(err)
				}
				if got := l.get(t, query); got != fmt.Sprintln(want) && n%7 != 1 {
					t.Errorf("%d has %s, want %d", i, strings.TrimSpace(got), want)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			hits += l.hits
		})
	}
	wg.Wait()
	if hits == 0 {
		t.Error("nothing was kept")
	}
}

// What a value depends on is told by rows for the tables that have keys, and by tables for
// the others; a key that no row of a change has does not touch it.
func TestKeysAreTold(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	const at = `'2026-01-01 00:00:00+00:00'`
	exec(t, db, `INSERT INTO users (id, name, email, is_platform_admin, created_at, updated_at) VALUES (1, 'a', 'a', false, `+at+`, `+at+`)`)
	insert := func(hash string) string {
		return `INSERT INTO credentials (id, user_id, kind, token_hash, family, family_expires_at, expires_at, idle_seconds, login_at, created_at)
VALUES ('` + hash + `', 1, 'access', '` + hash + `', 'f', ` + at + `, ` + at + `, 0, ` + at + `, ` + at + `)`
	}
	stamp := func(keys ...sqldb.Key) sqldb.Stamp {
		ctx, notes := db.Note(t.Context())
		if _, err := read(ctx, db, `SELECT token_hash FROM credentials WHERE token_hash = 'one'`); err != nil {
			t.Fatal(err)
		}
		return notes.Stamp(keys...)
	}
	key := sqldb.Key{Table: "credentials", Value: "one"}
	steps := []struct {
		name, write string
		holds       bool
	}{
		{"another row", insert("other"), true},
		{"the row", insert("one"), false},
		{"a change of another row", `UPDATE credentials SET idle_seconds = 1 WHERE id = 'other'`, true},
		{"a change that changes nothing", `UPDATE credentials SET idle_seconds = 1 WHERE id = 'nobody'`, true},
		{"another key for the row", `UPDATE credentials SET token_hash = 'two' WHERE id = 'one'`, false},
		{"the key back", `UPDATE credentials SET token_hash = 'one' WHERE id = 'one'`, false},
		{"a cascade", `DELETE FROM users`, false},
	}
	for _, step := range steps {
		whole, by := stamp(), stamp(key)
		if !whole.Holds() || !by.Holds() {
			t.Fatalf("%s: does not hold before", step.name)
		}
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			_, err := db.Conn(ctx).ExecContext(ctx, step.write)
			if by.HoldsWithin() != step.holds || !by.Holds() {
				t.Errorf("%s: the row holds within the transaction: %t", step.name, by.HoldsWithin())
			}
			return errors.Join(err, errUndone)
		})
		if !errors.Is(err, errUndone) || !by.Holds() {
			t.Errorf("%s, undone: the row holds: %t (%v)", step.name, by.Holds(), err)
		}
		exec(t, db, step.write)
		if by.Holds() != step.holds {
			t.Errorf("%s: the row holds: %t", step.name, by.Holds())
		}
		if whole.Holds() != (step.name == "a change that changes nothing") {
			t.Errorf("%s: the table holds: %t", step.name, whole.Holds())
		}
	}
	held := stamp()
	exec(t, db, `CREATE TABLE elsewhere (id integer)`)
	if held.Holds() {
		t.Error("holds after a change of the schema")
	}
	if (sqldb.Stamp{}).Holds() {
		t.Error("the zero stamp holds")
	}
}

// What a transaction has left holds from its commit on, unless a later one that shares
// the commit has changed it again.
func TestStampOfATransaction(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	var first, second, undone sqldb.Stamp
	write := func(name string, s *sqldb.Stamp, fail error) func(context.Context) error {
		return func(ctx context.Context) error {
			return db.Tx(ctx, func(ctx context.Context) error {
				ctx, notes := db.Note(ctx)
				if err := insert(ctx, db, name); err != nil {
					return err
				}
				if notes.Stamp().Holds() {
					t.Error("holds before the commit")
				}
				db.AfterCommit(ctx, func() { *s = notes.Stamp() })
				return fail
			})
		}
	}
	together(t, db, write("a", &undone, errUndone))
	together(t, db, write("b", &first, nil))
	if !first.Holds() || undone.Holds() {
		t.Errorf("committed holds: %t, undone: %t", first.Holds(), undone.Holds())
	}
	together(t, db, write("c", &first, nil), write("d", &second, nil))
	if first.Holds() == second.Holds() {
		t.Errorf("of two that share a commit the first holds: %t, the second: %t", first.Holds(), second.Holds())
	}
	last := first
	if second.Holds() {
		last = second
	}
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		if !last.HoldsWithin() {
			t.Error("does not hold in a transaction that has changed nothing")
		}
		err := insert(ctx, db, "e")
		if last.HoldsWithin() || !last.Holds() {
			t.Error("who has changed it: holds within; others: does not hold")
		}
		return errors.Join(err, errUndone)
	})
	if !errors.Is(err, errUndone) || !last.Holds() {
		t.Errorf("after a transaction that was undone: holds is %t (%v)", last.Holds(), err)
	}
}

// What is read in a transaction that did not begin to note may never be there.
func TestNothingIsNotedOfOthersTransactions(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	ctx, notes := db.Note(t.Context())
	err := db.Tx(ctx, func(ctx context.Context) error {
		_, err := read(ctx, db, `SELECT * FROM probes`)
		return err
	})
	if err != nil || notes.Stamp().Holds() {
		t.Errorf("holds (%v)", err)
	}
}

// A value that another kept value was made of holds no longer than that.
func TestNotesOfNotes(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.SQLite)
	newProbes(t, db)
	inner, notes := db.Note(t.Context())
	if _, err := read(inner, db, `SELECT * FROM probes`); err != nil {
		t.Fatal(err)
	}
	part := notes.Stamp()
	outer, notes := db.Note(t.Context())
	db.Uses(outer, part)
	whole := notes.Stamp()
	if !whole.Holds() {
		t.Error("does not hold")
	}
	exec(t, db, `INSERT INTO probes (id) VALUES (1)`)
	if whole.Holds() {
		t.Error("holds after its part")
	}
	later, notes := db.Note(t.Context())
	db.Uses(later, part)
	if notes.Stamp().Holds() {
		t.Error("made of a part that did not hold any more, it holds")
	}
}

// A change by another process is noticed at the very next look, although that process and
// this one know nothing of each other.
func TestAnotherProcessIsNoticed(t *testing.T) {
	t.Parallel()
	if url := os.Getenv("SQLDB_TEST_WRITER"); url != "" {
		writeOnDemand(t, url)
		return
	}
	url := dbtest.URL(t, sqldb.SQLite)
	db := dbtest.Open(t, url)
	newProbes(t, db)
	child := startWriter(t, url)
	l := &lookUps{db: db, kept: map[string]lookedUp{}}
	for i := range dbtest.Rounds(100, 1000) {
		for range 3 {
			l.get(t, `SELECT * FROM probes`)
		}
		if i%3 == 0 {
			exec(t, db, `INSERT INTO probes (id) VALUES ($1)`, 100_000+i) // so that commits take turns
		}
		child.write(t, fmt.Sprintf(`INSERT INTO probes (id) VALUES (%d)`, i))
		if i%3 == 1 {
			exec(t, db, `INSERT INTO quota_refusal_days (day, part, refused) VALUES ('2026-01-01 00:00:00+00:00', $1, 1)`, i) // before anybody has looked
		}
		l.check(t, "another process", `SELECT * FROM probes`)
	}
	if l.hits == 0 {
		t.Error("nothing was kept")
	}
}

type writerProcess struct {
	in  io.Writer
	out *bufio.Reader
}

// startWriter starts this test in another process, as one that writes.
func startWriter(t *testing.T, url string) writerProcess {
	t.Helper()
	cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnotherProcessIsNoticed$")
	cmd.Env = append(os.Environ(), "SQLDB_TEST_WRITER="+url)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return writerProcess{in, bufio.NewReader(out)}
}

func (w writerProcess) write(t *testing.T, text string) {
	t.Helper()
	if _, err := fmt.Fprintln(w.in, text); err != nil {
		t.Fatal(err)
	}
	if line, err := w.out.ReadString('\n'); err != nil || line != "done\n" {
		t.Fatalf("the other process says %q (%v)", line, err)
	}
}

func writeOnDemand(t *testing.T, url string) {
	db := dbtest.Open(t, url)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), lines.Text()); err != nil {
			fmt.Fprintln(os.Stdout, err)
			continue
		}
		fmt.Fprintln(os.Stdout, "done")
	}
}
