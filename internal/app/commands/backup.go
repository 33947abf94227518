package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/datadir"
	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Backup copies the SQLite database of s to a new file. A server can write to the database at the
// same time (rules: settings#backups).
func Backup(ctx context.Context, s settings.Settings, file string, out io.Writer) error {
	source, err := databaseFile(s, "use pg_dump for PostgreSQL, as docs/operations.md describes")
	if err != nil {
		return err
	}
	if _, err := os.Stat(source); err != nil {
		return RequireDatabase(s)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return fmt.Errorf("folder %s does not exist", filepath.Dir(file))
	}
	if err := dbfile.EnsureOwned(ctx, source, goose.DefaultTablename); err != nil {
		return err
	}
	if err := dbfile.CopyLive(ctx, source, file); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists: choose another name", file)
	} else if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	size, err := os.Stat(file)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintf(out, "Wrote %s (%s), checked.\nIt does not contain the secrets key %s: keep a copy of that file, because a restore needs it.\n",
		file, megabytes(size.Size()), s.SecretsKey()); err != nil {
		return err
	}
	if err := dbfile.NoteBackup(source, clock.System().Now()); err != nil { // the backup itself has succeeded
		_, err = fmt.Fprintf(out, "Failed to record the backup for metrics: %v.\n", err)
		return err
	}
	return nil
}

// Restore replaces the SQLite database of s with a backup. If a database exists, Restore returns an
// error unless force is set; with force it keeps the old database next to the restored one
// (rules: settings#backups).
func Restore(ctx context.Context, s settings.Settings, file string, force bool, out io.Writer) error {
	target, err := databaseFile(s, "use pg_restore for PostgreSQL, as docs/operations.md describes")
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("backup %s does not exist", file)
	}
	if err := dbfile.EnsureOwned(ctx, file, goose.DefaultTablename); err != nil {
		return err
	}
	if err := s.KeepPrivate(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	release, err := lockServers(ctx, s, target)
	if err != nil {
		return err
	}
	defer release()
	_, err = os.Lstat(target)
	exists := err == nil
	if exists && !force {
		return fmt.Errorf("database %s already exists: use --force to replace it; the old one is kept", target)
	}
	// Move the old database only after the copy is complete and verified. A killed restore can
	// leave a partial copy.
	fresh := target + ".restored"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := dbfile.Copy(ctx, file, fresh); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := checkSchemaVersion(ctx, s, file, fresh); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	if exists {
		kept, err := setAside(target)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "Kept the old database as %s.\n", kept); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, target); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Restored %s from %s.\n", target, file)
	return err
}

// checkSchemaVersion returns an error if restored, which is a copy of file, has the schema of a
// later version of the service.
func checkSchemaVersion(ctx context.Context, s settings.Settings, file, restored string) (err error) {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: sqldb.FileURL(restored), Log: NewLog(io.Discard, s)})
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	if _, err := db.MigrationStatus(ctx); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.Remove(restored + ".migrate.lock") // created by MigrationStatus
}

// lockServers prevents servers from using the data until release is called: serve locks the
// database, dev locks its sandbox.
func lockServers(ctx context.Context, s settings.Settings, database string) (release func(), err error) {
	releaseDatabase, err := datadir.Lock(ctx, database)
	if err != nil {
		return nil, err
	}
	sandbox := filepath.Join(s.Data, settings.SandboxFile)
	if _, err := os.Stat(sandbox); err != nil {
		return releaseDatabase, nil //nolint:nilerr // There is no sandbox here.
	}
	releaseSandbox, err := datadir.Lock(ctx, sandbox)
	if err != nil {
		releaseDatabase()
		return nil, err
	}
	return func() { releaseSandbox(); releaseDatabase() }, nil
}

// setAside renames a database and its log files, and returns the new name.
func setAside(path string) (string, error) {
	kept := path + clock.System().Now().UTC().Format(".before-20060102T150405.000")
	for _, suffix := range []string{"-wal", "-shm", ""} { // the database last, as it needs its log files
		if err := os.Rename(path+suffix, kept+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return "", err
		}
	}
	return kept, nil
}

// databaseFile returns the path of the SQLite database of s. For other databases it returns an
// error that recommends the text otherwise.
func databaseFile(s settings.Settings, otherwise string) (string, error) {
	u, err := url.Parse(s.DatabaseURL.Reveal())
	if err != nil || u.Scheme != "sqlite" {
		return "", errors.New("the database is not SQLite: " + otherwise)
	}
	return sqldb.FilePath(u), nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
