package dbfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/dbfile"
)

// LastBackup returns the last recorded time. An invalid record is an error.
func TestLastBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.db")
	if _, err := dbfile.LastBackup(path); !errors.Is(err, dbfile.ErrNoBackup) {
		t.Errorf("before the first: %v", err)
	}
	first := time.Date(2026, 11, 22, 3, 4, 5, 0, time.UTC)
	for _, at := range []time.Time{first, first.Add(time.Hour).In(time.FixedZone("", 3600))} {
		if err := dbfile.NoteBackup(path, at); err != nil {
			t.Fatal(err)
		}
		if got, err := dbfile.LastBackup(path); err != nil || !got.Equal(at) {
			t.Errorf("%v %v, want %v", got, err, at)
		}
	}
	if err := os.WriteFile(path+".last-backup", []byte("soon\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dbfile.LastBackup(path); err == nil {
		t.Error("an invalid time was accepted")
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.db")
	if _, _, err := dbfile.Sizes(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	for name, size := range map[string]int{path: 3, path + "-wal": 5} {
		if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if file, log, err := dbfile.Sizes(path); file != 3 || log != 5 || err != nil {
		t.Errorf("%d and %d bytes (%v)", file, log, err)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if file, log, err := dbfile.Sizes(path); file != 3 || log != 0 || err != nil {
		t.Errorf("without a log %d and %d bytes (%v)", file, log, err)
	}
}

func TestFree(t *testing.T) {
	t.Parallel()
	if free, err := dbfile.FreeSpace(t.TempDir()); err != nil || free == 0 {
		t.Errorf("%d bytes are free (%v)", free, err)
	}
	if _, err := dbfile.FreeSpace(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("FreeSpace of a missing folder succeeded")
	}
}
