package datadir

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockTimeout is how long a starting process waits for a stopping one.
const lockTimeout = 3 * time.Second

// Lock prevents other processes from serving from a database file until release is called or the
// process exits. Its error names the directory. CLI commands that only use the database do not take
// the lock.
func Lock(ctx context.Context, database string) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return TryLock(ctx, database)
}

// TryLock is like Lock, but waits until ctx is done.
func TryLock(ctx context.Context, database string) (release func(), err error) {
	lock := flock.New(database+".serve.lock", flock.SetPermissions(fileMode))
	if locked, err := lock.TryLockContext(ctx, 20*time.Millisecond); !locked {
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		return nil, fmt.Errorf("data folder %s is in use: another process is using %s", filepath.Dir(database), filepath.Base(database))
	}
	return func() { _ = lock.Close() }, nil
}
