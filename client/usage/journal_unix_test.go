//go:build !windows

package usage

import (
	"path/filepath"
	"syscall"
	"testing"
)

// An unlocked file can be locked again, even while a child process that is being started shares it.
func TestUnlock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	file, err := openLocked(path)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	if other, err := openLocked(path); err == nil {
		_ = unlock(other)
		t.Fatal("the locked file was locked again")
	}
	if err := unlock(file); err != nil {
		t.Fatal(err)
	}
	next, err := openLocked(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(next); err != nil {
		t.Error(err)
	}
}
