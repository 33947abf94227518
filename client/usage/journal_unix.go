//go:build !windows

package usage

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens a file with an exclusive lock. It fails if another process holds the lock.
func openLocked(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unlock releases the lock and closes the file. Closing alone would not release the lock: a child
// process that is being started shares the file until it executes its program.
func unlock(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

// syncFolder syncs the directory, so that new names in it are durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
