package dbfile_test

import (
	"bytes"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/dbfile"
)

// made creates a SQLite file with a table, in the given journal mode.
func made(t *testing.T, path, table, mode string) {
	t.Helper()
	dsn := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "_pragma=journal_mode(" + mode + ")"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE `+table+` (a integer)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file that does not belong to the service is rejected and not changed.
func TestOwn(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, content := range map[string]string{"empty": "", "text": "hello", "longer": strings.Repeat("no database ", 500)} {
		if err := os.WriteFile(at(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	made(t, at("foreign"), "notes", "DELETE")
	made(t, at("log"), "notes", "WAL")
	made(t, at("own"), "ours", "WAL")
	for name, want := range map[string]string{
		"empty": "is empty", "text": "is not a SQLite database", "longer": "is not a SQLite database",
		"foreign": "is a database of a different program", "log": "is a database of a different program", "own": "",
	} {
		before, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		err = dbfile.EnsureOwned(t.Context(), at(name), "ours")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), at(name)+" "+want)) {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.ReadFile(at(name))
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed, or %v", name, err)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 6 {
		t.Errorf("the folder contains %v, %v", entries, err)
	}
	// A missing file is created, readable only by its owner.
	if err := dbfile.EnsureOwned(t.Context(), at("new/file.db"), "ours"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(at("new/file.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
