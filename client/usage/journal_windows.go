package usage

import (
	"os"
	"syscall"
)

// openLocked opens a file for exclusive use. It fails if another process has it open.
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

// unlock closes the file.
func unlock(file *os.File) error { return file.Close() }

// syncFolder does nothing: Windows does not need it.
func syncFolder(string) error { return nil }
