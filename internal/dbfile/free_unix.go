//go:build !windows

package dbfile

import "syscall"

// Free returns how many bytes this user may still write to the disk of a folder.
func Free(folder string) (uint64, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
