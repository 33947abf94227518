// Package datadir keeps the service's files from other users of the machine.
package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	folderMode = 0o700
	fileMode   = 0o600
	others     = 0o077
	// mostEntries is how many entries a folder may have that is tightened. One with more
	// is a folder of the system, given by mistake: taking it from everybody else would
	// break the machine.
	mostEntries = 100
)

// Folder makes sure that only the service's user reaches a folder: it makes it, or takes the
// rights of others away. It does the same with the named files in it, those that exist. A
// folder that others need, or that belongs to another user, is refused.
func Folder(path string, files ...string) error {
	if err := os.MkdirAll(path, folderMode); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if IsShared(info) {
		if err := restrictMode(path, info); err != nil {
			return fmt.Errorf("the data folder %s can be read by other users of this machine and is not made private: %w; "+
				"give one of the service's own, with the mode 0700", path, err)
		}
	}
	for _, name := range files {
		if err := file(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// IsShared reports whether other users of the machine reach a file or a folder. On Windows that
// is said by access control lists, which a folder inherits and which are not looked at.
func IsShared(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&others != 0
}

func restrictMode(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSticky != 0 || path == filepath.Dir(path) {
		return errors.New("it is shared by all")
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	entries, err := folder.Readdirnames(mostEntries + 1)
	_ = folder.Close() // it was only read
	if len(entries) > mostEntries {
		return fmt.Errorf("it has more than %d entries", mostEntries)
	}
	if err != nil && len(entries) > 0 {
		return err
	}
	return os.Chmod(path, folderMode)
}

// file takes the rights of others to a file away, if it exists.
func file(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && IsShared(info) {
		return os.Chmod(path, fileMode)
	}
	return nil
}
