// Package datadir protects the service's files from other users of the machine.
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
	// mostEntries is the maximum number of entries of a directory whose permissions Folder changes.
	// A larger directory is probably a system directory given by mistake, and making it private
	// would break the machine.
	mostEntries = 100
)

// Folder makes a directory accessible only to the service's user. It creates the directory, or
// removes the permissions of other users from the directory and from the named files in it. It
// returns an error for a directory that other users need or that another user owns.
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
			return fmt.Errorf("data folder %s is readable by other users of this machine and was not made private: %w; "+
				"use a separate folder with mode 0700", path, err)
		}
	}
	for _, name := range files {
		if err := file(filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// IsShared reports whether other users of the machine can access a file or directory. On Windows it
// returns false: access control lists, which are inherited from the parent, are not checked.
func IsShared(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&others != 0
}

func restrictMode(path string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSticky != 0 || path == filepath.Dir(path) {
		return errors.New("it is a shared system folder")
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

// file removes the permissions of other users from a file, if it exists.
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
