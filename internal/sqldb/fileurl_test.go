package sqldb

import (
	"net/url"
	"path/filepath"
	"testing"
)

// FilePath is the inverse of FileURL.
func TestFileURL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b?#%.db")
	u, err := url.Parse(FileURL(path))
	if err != nil || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || FilePath(u) != path {
		t.Errorf("URL of %s is %s, which opens %v (%v)", path, FileURL(path), u, err)
	}
	for _, test := range []struct{ system, path, want string }{
		{"windows", "/C:/data/t.db", "C:/data/t.db"},
		{"windows", "//server/share/t.db", "//server/share/t.db"},
		{"windows", "/t", "/t"},
		{"linux", "/C:/data/t.db", "/C:/data/t.db"},
	} {
		if got := pathOn(test.system, test.path); got != test.want {
			t.Errorf("%s on %s is %s, want %s", test.path, test.system, got, test.want)
		}
	}
}
