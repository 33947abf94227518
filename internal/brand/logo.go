package brand

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // a form that logos have
	_ "image/png"  // another
	"io"
	"net/http"
	"os"
	"time"

	_ "golang.org/x/image/webp" // another
)

// LogoPath is where the service serves a logo that is a file. It never changes: mails of
// years ago refer to it.
const LogoPath = "/brand/logo"

// The bounds of a logo: each mail program that opens a mail loads it.
const (
	maxLogoBytes = 1 << 20
	maxLogoSide  = 4000 // pixels
)

// Logo is a picture elsewhere, or one that the service serves. The zero value is none.
type Logo struct {
	URL     string // absolute https URL; "" for a file
	Type    string // media type of Picture
	Picture []byte // what the file contains
}

// Address returns the URL of the logo, and "" for none. publicURL is how clients reach the
// service, without a slash at the end.
func (l Logo) Address(publicURL string) string {
	if l.Picture != nil {
		return publicURL + LogoPath
	}
	return l.URL
}

// ReadLogo reads a logo from a file: PNG, JPEG, WebP or SVG.
func ReadLogo(path string) (Logo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Logo{}, err
	case !info.Mode().IsRegular():
		return Logo{}, errors.New("is not a file")
	case info.Size() > maxLogoBytes:
		return Logo{}, fmt.Errorf("is larger than %d KiB", maxLogoBytes>>10)
	}
	picture, err := os.ReadFile(path)
	if err != nil {
		return Logo{}, err
	}
	kind, err := typeOf(picture)
	return Logo{Type: kind, Picture: picture}, err
}

// typeOf returns the media type of a picture, judged by its content.
func typeOf(picture []byte) (string, error) {
	size, format, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return "image/svg+xml", checkSVG(picture)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxLogoSide || size.Height > maxLogoSide {
		return "", fmt.Errorf("is not from 1 to %d pixels wide and high", maxLogoSide)
	}
	if _, _, err := image.Decode(bytes.NewReader(picture)); err != nil {
		return "", errors.New("is a damaged picture")
	}
	switch format {
	case "png", "jpeg", "webp":
		return "image/" + format, nil
	}
	return "", errNoPicture
}

var errNoPicture = errors.New("is none of PNG, JPEG, WebP and SVG")

// checkSVG reads the whole of a drawing, which must be well-formed. What it may do in a
// browser is up to logoPolicy.
func checkSVG(drawing []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(drawing))
	root := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && root {
			return nil
		}
		if err != nil {
			if root {
				return fmt.Errorf("is no well-formed SVG: %w", err)
			}
			return errNoPicture
		}
		if start, ok := token.(xml.StartElement); ok && !root {
			if start.Name != (xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}) {
				return errNoPicture
			}
			root = true
		}
	}
}

// logoPolicy lets a drawing have its own styles and nothing else: no script, no address,
// and nothing of this origin, for who opens it as a page.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

// Handler serves a logo that is a file, at LogoPath. Pages of all origins may show it.
func (l Logo) Handler() http.Handler {
	hash := sha256.Sum256(l.Picture)
	etag := `"` + hex.EncodeToString(hash[:16]) + `"`
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+LogoPath, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", l.Type)
		h.Set("Content-Security-Policy", logoPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		h.Set("Cache-Control", "public, max-age=3600")
		h.Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(l.Picture))
	})
	return mux
}
