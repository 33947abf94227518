package sqldb

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// FileURL returns the URL of a SQLite database file with an absolute path: sqlite:///folder/file,
// or sqlite:///C:/folder/file on Windows.
func FileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "sqlite", Path: path}).String()
}

// FilePath returns the path of such a URL in the system's format.
func FilePath(u *url.URL) string { return filepath.FromSlash(pathOn(runtime.GOOS, u.Path)) }

// pathOn removes the slash before a drive letter on Windows.
func pathOn(system, path string) string {
	if system == "windows" && len(path) > 2 && path[0] == '/' && path[2] == ':' {
		return path[1:]
	}
	return path
}
