//go:build !windows

package dbfile

import (
	"errors"
	"os"
	"syscall"
)

// FreeSpace returns the number of bytes that this user can still write to the disk of a directory.
func FreeSpace(folder string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}

// SyncFolder makes the file names in a directory durable.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
