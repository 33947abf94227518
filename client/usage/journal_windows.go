package usage

import (
	"os"
	"syscall"
)

// openLocked opens a file that one process has at a time.
func openLocked(path string) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const unshared = 0
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, unshared, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), path), nil
}

// unlock gives the file up.
func unlock(file *os.File) error { return file.Close() }

// syncFolder does nothing: Windows keeps the names in a folder itself.
func syncFolder(string) error { return nil }
