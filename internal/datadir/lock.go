package datadir

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockTimeout is how long a process that starts waits for one that stops.
const lockTimeout = 3 * time.Second

// Lock keeps other processes from serving from a database file meanwhile, until release is
// called or the process ends. Its error names the folder. Commands that only talk to the
// database take no lock.
func Lock(ctx context.Context, database string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return TryLock(ctx, database)
}

// TryLock is Lock for a caller who waits until ctx ends.
func TryLock(ctx context.Context, database string) (release func(), err error) {
	lock := flock.New(database+".serve.lock", flock.SetPermissions(fileMode))
	if locked, err := lock.TryLockContext(ctx, 20*time.Millisecond); !locked {
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		return nil, fmt.Errorf("the data folder %s is in use: another process serves from %s", filepath.Dir(database), filepath.Base(database))
	}
	return func() { _ = lock.Close() }, nil
}
