package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// backupNote is the suffix of the file that stores the time of the last backup.
const backupNote = ".last-backup"

// ErrNoBackup means that no backup of the database is recorded.
var ErrNoBackup = errors.New("no backup was recorded")

// Sizes returns the sizes of a database file and its write-ahead log, in bytes. The size of a
// missing log is 0.
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

// NoteBackup records the time of a backup in a file next to the database. All users with access to
// the directory can read it, because the service often runs as a different user than the backup.
func NoteBackup(path string, at time.Time) error {
	return os.WriteFile(path+backupNote, []byte(at.UTC().Format(time.RFC3339)+"\n"), 0o644) //nolint:gosec // A time is not a secret.
}

// LastBackup returns the time of the last backup. It returns ErrNoBackup if no backup is recorded.
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
