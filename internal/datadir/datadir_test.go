package datadir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/datadir"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestFolder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	made := filepath.Join(top, "a", "b")
	if err := datadir.Folder(made); err != nil || mode(t, made) != 0o700 {
		t.Errorf("a new one: %v, %v", err, mode(t, made))
	}
	wide := filepath.Join(top, "wide")
	for _, err := range []error{
		os.Mkdir(wide, 0o700), os.WriteFile(filepath.Join(wide, "db"), nil, 0o600), os.WriteFile(filepath.Join(wide, "other"), nil, 0o600),
		os.Chmod(wide, 0o775), os.Chmod(filepath.Join(wide, "db"), 0o664), os.Chmod(filepath.Join(wide, "other"), 0o644),
		os.Symlink(filepath.Join(wide, "other"), filepath.Join(wide, "link")),
		datadir.Folder(wide, "db", "absent", "link"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := mode(t, wide); got != 0o700 {
		t.Errorf("the mode of a shared directory becomes %v", got)
	}
	if got := mode(t, filepath.Join(wide, "db")); got != 0o600 {
		t.Errorf("the mode of a shared file becomes %v", got)
	}
	if got := mode(t, filepath.Join(wide, "other")); got != 0o644 {
		t.Errorf("mode of a foreign file = %v", got)
	}
	shared, full := filepath.Join(top, "shared"), filepath.Join(top, "full")
	if err := os.Mkdir(full, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 101 {
		if err := os.WriteFile(filepath.Join(full, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, m := range map[string]fs.FileMode{shared: 0o777 | fs.ModeSticky, full: 0o755} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, m); err != nil {
			t.Fatal(err)
		}
		if err := datadir.Folder(path); err == nil || !strings.Contains(err.Error(), "0700") || mode(t, path) != m.Perm() {
			t.Errorf("%s: %v, %v", path, err, mode(t, path))
		}
	}
	if err := datadir.Folder(filepath.Join(full, "1")); err == nil {
		t.Error("a file is accepted as a folder")
	}
}
