package pdf

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"sync"
	"unicode"
)

// The fonts, made by scripts/fonts. They are compressed, and a document has only those that it
// needs, of which only the characters that it shows.
//
//go:embed fonts/*.gz
var fontFiles embed.FS

// The families of a document.
const (
	sans   = "sans" // Latin, Greek and Cyrillic
	arabic = "arabic"
	hebrew = "hebrew"
	han    = "han" // Chinese, and Japanese with its own letters
	hangul = "hangul"
)

// fonts keeps the two that every document has; the others are read when one needs them.
var fonts = struct{ regular, bold func() ([]byte, error) }{
	sync.OnceValues(func() ([]byte, error) { return fontFile("sans") }),
	sync.OnceValues(func() ([]byte, error) { return fontFile("sans-bold") }),
}

func fontFile(name string) ([]byte, error) {
	packed, err := fontFiles.ReadFile("fonts/" + name + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("font %s: %w", name, err)
	}
	return io.ReadAll(unpacked)
}

// familyOf returns the family that has a character.
func familyOf(r rune) string {
	switch {
	case r >= 0x0590 && r <= 0x05FF:
		return hebrew
	case isArabic(r):
		return arabic
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana), r >= 0x3000 && r <= 0x303F, r >= 0xFF00 && r <= 0xFFEF:
		return han
	}
	return sans
}

func isArabic(r rune) bool {
	return r >= 0x0600 && r <= 0x06FF || r >= 0x0750 && r <= 0x077F || r >= 0xFB50 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC
}

// use makes a family current, in a style, and loads it at its first use. Only the Latin one
// has a bold style.
func (d *document) use(family, style string, size float64) {
	if family != sans {
		style = ""
	}
	if key := family + style; !d.loaded[key] {
		d.loaded[key] = true
		file, err := fontOf(family, style)
		if err != nil {
			d.SetError(err)
			return
		}
		d.AddUTF8FontFromBytes(family, style, file)
	}
	d.SetFont(family, style, size)
}

func fontOf(family, style string) ([]byte, error) {
	switch {
	case family == sans && style == "":
		return fonts.regular()
	case family == sans:
		return fonts.bold()
	}
	return fontFile(family)
}
