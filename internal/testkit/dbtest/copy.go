package dbtest

import (
	"net/url"
	"os"
	"strings"
	"testing"
)

// CopyURL copies the database at a URL and returns the URL of the copy. The original must be closed
// and must not be opened again. The copy is removed when t ends.
func CopyURL(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	if u.Scheme == "sqlite" {
		text, err := os.ReadFile(u.Path)
		if err != nil {
			t.Fatalf("dbtest: %v", err)
		}
		return sqliteFile(t, text)
	}
	c, name := server(t), strings.TrimPrefix(u.Path, "/")
	if err := c.freeze(name); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return c.copyOf(t, name)
}
