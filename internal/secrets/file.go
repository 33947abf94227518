package secrets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/tenantry/tenantry/internal/dbfile"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// FileName is the name of the key file in the data folder.
const FileName = "secrets.key"

// maxFile is the maximum size of a key file in bytes. It keeps a wrong path, such as the path of a
// database, from being read completely.
const maxFile = 1 << 10

// Load returns the key in a file at the start of the service. It creates a missing or empty file
// with a new key, but only while the database contains no secret. It returns an error if the
// database contains a secret of another key.
func Load(ctx context.Context, db *sqldb.DB, path string) (*Key, error) {
	key, err := Read(ctx, db, path)
	if !errors.Is(err, errNoKey) {
		return key, err
	}
	stored, err := store{db}.keyIDs(ctx)
	if err != nil {
		return nil, err
	}
	if len(stored) > 0 {
		return nil, fmt.Errorf("%s: %w, but the database contains secrets that were protected with it; restore the file", path, errNoKey)
	}
	if err := create(path); err != nil {
		return nil, err
	}
	return Read(ctx, db, path) // another process may have created the file
}

// errNoKey means that the key file is missing or empty.
var errNoKey = errors.New("the key file is missing or empty")

// Read returns the key in a file. It changes nothing. It returns an error if the file is missing or
// empty, or if the database contains a secret of another key.
func Read(ctx context.Context, db *sqldb.DB, path string) (*Key, error) {
	key, err := readFile(path)
	if err != nil {
		return nil, err
	}
	stored, err := store{db}.keyIDs(ctx)
	if err != nil {
		return nil, err
	}
	for place, id := range stored {
		if id != key.id {
			return nil, fmt.Errorf("%s: %w (%s); restore the file that belongs to this database", path, ErrOtherKey, place)
		}
	}
	return key, nil
}

// IsMissing reports whether Read failed because the key file is missing or empty.
func IsMissing(err error) bool { return errors.Is(err, errNoKey) }

// InUse reports whether the database contains a secret.
func InUse(ctx context.Context, db *sqldb.DB) (bool, error) {
	stored, err := store{db}.keyIDs(ctx)
	return len(stored) > 0, err
}

func readFile(path string) (*Key, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, errNoKey)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s: not a key file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(text)) == "" {
		return nil, fmt.Errorf("%s: %w", path, errNoKey)
	}
	key, err := parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// create writes a new key to a missing or empty file. It keeps the key of a process that starts at
// the same time, because it replaces the file only under a lock.
//
// Invariant: the file is complete and on the disk before it has its name, so a crash never leaves a
// partial key, and no secret outlives its key.
func create(path string) (err error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := readFile(path); !errors.Is(err, errNoKey) { // another process has created it
		return err
	}
	file, err := os.CreateTemp(folder, "."+FileName+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString(generate())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return dbfile.SyncFolder(folder)
}
