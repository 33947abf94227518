//go:build !windows

package dbfile

import (
	"errors"
	"os"
	"syscall"
)

// FreeSpace returns how many bytes this user may still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
