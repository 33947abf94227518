package brand_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/brand"
)

func TestCheckAccent(t *testing.T) {
	t.Parallel()
	for color, refusal := range map[string]string{
		"#000000": "", "#0b6470": "", "#0B6470": "", "#1f6e7a": "",
		"#767676": "", // the lightest gray on which white text is readable
		"#777777": "is 4.47, at least 4.5",
		"#ffffff": "is 1.00, at least 4.5",
		"#ff0000": "is 3.99, at least 4.5",
		"#00ff00": "is 1.37, at least 4.5",
		"0b6470":  "must be a color in the form #rrggbb", "#abc": "must be a color", "#0b6470ff": "must be a color", "blue": "must be a color",
		"#12345g": "must be a color", "#-12345": "must be a color", "#+12345": "must be a color", "#12_345": "must be a color", "#": "must be a color", " #0b6470": "must be a color",
	} {
		err := brand.CheckAccent(color)
		if refusal == "" && err != nil || refusal != "" && (err == nil || !strings.Contains(err.Error(), refusal)) {
			t.Errorf("%s: %v, want %q", color, err, refusal)
		}
	}
	// The default colors also have enough contrast.
	for _, b := range []brand.Brand{{}, {Accent: "#101010"}} {
		light, dark := b.Colors()
		if brand.CheckAccent(light) != nil || brand.CheckAccent(dark) != nil || b.Accent != "" && (light != b.Accent || dark != b.Accent) {
			t.Errorf("%+v: %s and %s", b, light, dark)
		}
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, fine := range map[string]bool{
		"": true, "Acme": true, "Ünïcode & Söhne <GmbH>": true, "acme.io": true, strings.Repeat("ä", 60): true,
		strings.Repeat("a", 61): false, "Ac\nme": false, "Ac\u202eme": false, "Ac\u200bme": false, "Ac\u2028me": false, "Ac\x00me": false, "\xff": false, "\ue000": false,
	} {
		if err := brand.CheckName(name); (err == nil) != fine {
			t.Errorf("%q: %v", name, err)
		}
	}
	if (brand.Brand{}).App() != "Tenantry" || (brand.Brand{Name: "Acme"}).App() != "Acme" {
		t.Error("the name of the product")
	}
}

const drawing = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><script>alert(1)</script></svg>`

func encoded(t *testing.T, width, height int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asPNG(out *bytes.Buffer, i image.Image) error  { return png.Encode(out, i) }
func asJPEG(out *bytes.Buffer, i image.Image) error { return jpeg.Encode(out, i, nil) }
func asGIF(out *bytes.Buffer, i image.Image) error  { return gif.Encode(out, i, nil) }

// dot is a WebP of one pixel. The standard library lacks a WebP encoder.
const dot = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func TestReadLogo(t *testing.T) {
	t.Parallel()
	webp, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	whole := encoded(t, 3, 2, asPNG)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content    []byte
		kind, fail string
	}{
		"a.png":       {whole, "image/png", ""},
		"named.txt":   {encoded(t, 3, 2, asJPEG), "image/jpeg", ""}, // the content determines the type
		"a.webp":      {webp, "image/webp", ""},
		"a.svg":       {[]byte(drawing), "image/svg+xml", ""},
		"a.gif":       {encoded(t, 3, 2, asGIF), "", "must be PNG, JPEG, WebP or SVG"},
		"text":        {[]byte("hello"), "", "must be PNG, JPEG, WebP or SVG"},
		"empty":       {nil, "", "must be PNG, JPEG, WebP or SVG"},
		"page.svg":    {[]byte("<html><svg/></html>"), "", "must be PNG, JPEG, WebP or SVG"},
		"no-ns.svg":   {[]byte("<svg></svg>"), "", "must be PNG, JPEG, WebP or SVG"},
		"open.svg":    {[]byte(strings.TrimSuffix(drawing, "</svg>")), "", "is not a valid SVG"},
		"half.png":    {whole[:len(whole)-20], "", "is a corrupt image"},
		"wide.png":    {encoded(t, 4001, 1, asPNG), "", "must be 1 to 4000 pixels wide and high"},
		"large.svg":   {append([]byte(drawing), bytes.Repeat([]byte(" "), 1<<20)...), "", "is larger than 1024 KiB"},
		"missing.png": {nil, "", "no such file"},
	} {
		path := filepath.Join(dir, name)
		if name != "missing.png" {
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		logo, err := brand.ReadLogo(path)
		if c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)) || c.fail == "" && (err != nil || logo.Type != c.kind || !bytes.Equal(logo.Picture, c.content)) {
			t.Errorf("%s: %s, %v; want %q %q", name, logo.Type, err, c.kind, c.fail)
		}
	}
	if _, err := brand.ReadLogo(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestLogoIsServed(t *testing.T) {
	t.Parallel()
	logo := brand.Logo{Type: "image/svg+xml", Picture: []byte(drawing)}
	if got := logo.Address("https://api.example.com"); got != "https://api.example.com/brand/logo" {
		t.Error(got)
	}
	if got := (brand.Logo{URL: "https://cdn.example.com/l.png"}).Address("https://api.example.com"); got != "https://cdn.example.com/l.png" {
		t.Error(got)
	}
	if got := (brand.Logo{}).Address("https://api.example.com"); got != "" {
		t.Error(got)
	}
	ask := func(method, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/brand/logo", nil)
		r.Header.Set("If-None-Match", etag)
		w := httptest.NewRecorder()
		logo.Handler().ServeHTTP(w, r)
		return w
	}
	got := ask(http.MethodGet, "")
	for name, want := range map[string]string{
		"Content-Type": "image/svg+xml", "X-Content-Type-Options": "nosniff", "Cache-Control": "public, max-age=3600",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
	} {
		if got.Header().Get(name) != want {
			t.Errorf("%s: %q", name, got.Header().Get(name))
		}
	}
	if got.Code != 200 || got.Body.String() != drawing {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for method, want := range map[string]int{http.MethodGet: 304, http.MethodHead: 304, http.MethodPost: 405} {
		if again := ask(method, got.Header().Get("ETag")); again.Code != want || method != http.MethodPost && again.Body.Len() > 0 {
			t.Errorf("%s: %d", method, again.Code)
		}
	}
}
