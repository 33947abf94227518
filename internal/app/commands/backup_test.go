package commands_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// in returns settings with a data folder.
func in(folder string) settings.Settings {
	return settings.Settings{Data: folder, DatabaseURL: settings.Secret(sqldb.FileURL(filepath.Join(folder, settings.DatabaseFile)))}
}

// change runs a statement on the database of s.
func change(t *testing.T, s settings.Settings, statement string) {
	t.Helper()
	db, err := commands.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// names returns the names of the admins in a database.
func names(t *testing.T, database string) string {
	t.Helper()
	db := dbtest.Open(t, sqldb.FileURL(database))
	rows, err := db.Conn(t.Context()).QueryContext(t.Context(), `SELECT name FROM users ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		all = append(all, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func named(name string) string {
	return `INSERT INTO users (name, email, created_at, updated_at) VALUES ('` + name + `', '` + name + `@example.com', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')`
}

// A rejected restore changes nothing. A restore that was killed does not block the next one. A
// forced restore preserves the old database, including its log.
func TestRestore(t *testing.T) {
	t.Parallel()
	source, target := in(t.TempDir()), in(t.TempDir())
	change(t, source, named("ada"))
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	var out bytes.Buffer
	for _, name := range []string{"good", "damaged", "newer"} {
		if err := commands.Backup(t.Context(), source, at(name), &out); err != nil {
			t.Fatal(err)
		}
	}
	newer := dbtest.Open(t, sqldb.FileURL(at("newer")))
	if _, err := newer.Conn(t.Context()).ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(at("damaged"))
	if err != nil {
		t.Fatal(err)
	}
	clear(text[4096*3 : 4096*40])
	if err := errors.Join(os.WriteFile(at("damaged"), text, 0o600), os.WriteFile(at("empty"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	change(t, target, named("grace"))
	database := filepath.Join(target.Data, settings.DatabaseFile)
	for name, want := range map[string]string{
		"newer": "newer than this program", "damaged": "malformed", "empty": "is empty", "absent": "does not exist",
	} {
		err := commands.Restore(t.Context(), target, at(name), true, &out)
		if err == nil || !strings.Contains(err.Error(), want) && (name != "damaged" || !strings.Contains(err.Error(), "the database is corrupt")) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if got := names(t, database); got != "grace" {
			t.Errorf("%s: the database has %q", name, got)
		}
	}
	if err := commands.Restore(t.Context(), target, at("good"), false, &out); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("over a database: %v", err)
	}
	if err := os.WriteFile(database+".restored", []byte("half a file"), 0o600); err != nil { // left by a restore that was killed
		t.Fatal(err)
	}
	out.Reset()
	if err := commands.Restore(t.Context(), target, at("good"), true, &out); err != nil {
		t.Fatal(err)
	}
	if got := names(t, database); got != "ada" {
		t.Errorf("restored: %q", got)
	}
	kept, ok := strings.CutPrefix(strings.Split(out.String(), "\n")[0], "Kept the old database as ")
	if got := names(t, strings.TrimSuffix(kept, ".")); !ok || got != "grace" {
		t.Errorf("kept: %q in %q", got, out.String())
	}
	if left, err := filepath.Glob(filepath.Join(target.Data, "*restored*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// An interrupted backup leaves no file, and neither does a backup of a missing database.
func TestBackupIsAtomic(t *testing.T) {
	t.Parallel()
	source, folder := in(t.TempDir()), t.TempDir()
	change(t, source, named("ada"))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := commands.Backup(over, source, filepath.Join(folder, "a.db"), &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	absent := in(filepath.Join(t.TempDir(), "absent"))
	if err := commands.Backup(t.Context(), absent, filepath.Join(folder, "b.db"), &bytes.Buffer{}); err == nil {
		t.Error("of no database: no error")
	}
	if _, err := os.Stat(absent.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
	postgres := settings.Settings{Data: folder, DatabaseURL: "postgres://db.internal/x"}
	for name, err := range map[string]error{
		"backup":  commands.Backup(t.Context(), postgres, filepath.Join(folder, "c.db"), &bytes.Buffer{}),
		"restore": commands.Restore(t.Context(), postgres, filepath.Join(folder, "c.db"), false, &bytes.Buffer{}),
	} {
		if err == nil || !strings.Contains(err.Error(), "the database is not SQLite: use pg_") {
			t.Errorf("%s of PostgreSQL: %v", name, err)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
