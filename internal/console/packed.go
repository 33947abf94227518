package console

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

// gzipSuffix is the suffix of the copies in gzip. readPacked restores the content of a file from
// this copy if the file itself is missing.
const gzipSuffix = ".gz"

// encodings are the encodings of copies by suffix, best first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", gzipSuffix}}

// hasFile reports whether files contains a file, as it is or compressed.
func hasFile(files fs.FS, name string) bool {
	if _, err := fs.Stat(files, name); err == nil {
		return true
	}
	_, err := fs.Stat(files, name+gzipSuffix)
	return err == nil
}

// servePacked responds with the best compressed copy of a file that the client accepts, or with the
// content of the file (see readPacked). The ETag consists of the version and the encoding. The
// caller sets the other headers of the content.
func servePacked(w http.ResponseWriter, r *http.Request, files fs.FS, name, version string) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	for _, e := range encodings {
		if !accepts(r, e.name) {
			continue
		}
		content, err := fs.ReadFile(files, name+e.suffix)
		if err != nil {
			continue
		}
		h.Set("Content-Encoding", e.name)
		h.Set("ETag", `"`+version+`-`+e.name+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		return
	}
	content, err := readPacked(files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h.Set("ETag", `"`+version+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// readPacked returns the content of a file, from the file itself or from its copy in gzip.
func readPacked(files fs.FS, name string) ([]byte, error) {
	if content, err := fs.ReadFile(files, name); err == nil {
		return content, nil
	}
	packed, err := files.Open(name + gzipSuffix)
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

// accepts reports whether the client accepts an encoding.
func accepts(r *http.Request, encoding string) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.TrimSpace(name) == encoding && strings.ReplaceAll(weight, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
