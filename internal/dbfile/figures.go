package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// backupNote is what the name of the file ends with that tells when a database was backed up
// for the last time.
const backupNote = ".last-backup"

// ErrNoBackup says that a database was never backed up, as far as is known.
var ErrNoBackup = errors.New("no backup is known")

// Sizes returns the sizes of a database file and of the log beside it, in bytes. A log that
// is not there has none.
func Sizes(path string) (file, log int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, err
	}
	beside, err := os.Stat(path + "-wal")
	switch {
	case err == nil:
		return info.Size(), beside.Size(), nil
	case errors.Is(err, fs.ErrNotExist):
		return info.Size(), 0, nil
	default:
		return 0, 0, err
	}
}

// NoteBackup notes beside a database that it was backed up at a time. Whoever may enter its
// folder may read the note: backups are often made by another user than the service's.
func NoteBackup(path string, at time.Time) error {
	return os.WriteFile(path+backupNote, []byte(at.UTC().Format(time.RFC3339)+"\n"), 0o644) //nolint:gosec // A time is no secret.
}

// LastBackup returns when a database was backed up for the last time, or ErrNoBackup.
func LastBackup(path string) (time.Time, error) {
	text, err := os.ReadFile(path + backupNote)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, ErrNoBackup
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", path+backupNote, err)
	}
	return at, nil
}
