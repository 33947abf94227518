package brand

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // logo format
	_ "image/png"  // logo format
	"io"
	"net/http"
	"os"
	"time"

	_ "golang.org/x/image/webp" // logo format
)

// LogoPath is the path of a logo that the service serves. It must never change, because old mail
// refers to it.
const LogoPath = "/brand/logo"

// The limits of a logo, which mail clients load each time a mail is opened.
const (
	maxLogoBytes = 1 << 20
	maxLogoSide  = 4000 // in pixels
)

// Logo is an external picture, or a picture that the service serves. The zero value means no logo.
type Logo struct {
	URL     string // absolute https URL; "" for a file
	Type    string // media type of Picture
	Picture []byte // content of the file
}

// Address returns the URL of the logo, or "" without a logo. publicURL is the public URL of the
// service, without a trailing slash.
func (l Logo) Address(publicURL string) string {
	if l.Picture != nil {
		return publicURL + LogoPath
	}
	return l.URL
}

// ReadLogo reads a logo from a PNG, JPEG, WebP or SVG file.
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

// typeOf returns the media type of a picture, based on its content.
func typeOf(picture []byte) (string, error) {
	size, format, err := image.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return "image/svg+xml", checkSVG(picture)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxLogoSide || size.Height > maxLogoSide {
		return "", fmt.Errorf("must be 1 to %d pixels wide and high", maxLogoSide)
	}
	if _, _, err := image.Decode(bytes.NewReader(picture)); err != nil {
		return "", errors.New("is a corrupt image")
	}
	switch format {
	case "png", "jpeg", "webp":
		return "image/" + format, nil
	}
	return "", errNoPicture
}

var errNoPicture = errors.New("must be PNG, JPEG, WebP or SVG")

// checkSVG returns an error unless the drawing is well-formed. logoPolicy restricts its
// capabilities in a browser.
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
				return fmt.Errorf("is not a valid SVG: %w", err)
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

// logoPolicy allows a drawing only its own styles. If a browser opens it as a page, it can neither
// run scripts nor load resources nor access this origin.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

// Handler serves a logo file at LogoPath. Pages of all origins can embed it.
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
