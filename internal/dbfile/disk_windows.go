package dbfile

import "golang.org/x/sys/windows"

// FreeSpace returns the number of bytes that this user can still write to the disk of a directory.
func FreeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// SyncFolder does nothing: Windows cannot flush directories, and NTFS journals file names.
func SyncFolder(string) error { return nil }
