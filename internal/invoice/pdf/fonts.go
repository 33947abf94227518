package pdf

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"unicode"

	"golang.org/x/image/font/sfnt"
)

// The compressed fonts, built by scripts/fonts. A document embeds only the fonts it needs, reduced
// to the characters it shows.
//
//go:embed fonts/*.gz
var fontFiles embed.FS

// Font families.
const (
	sans       = "sans" // Latin, Greek and Cyrillic
	arabic     = "arabic"
	hebrew     = "hebrew"
	thai       = "thai"
	devanagari = "devanagari"
	georgian   = "georgian"
	armenian   = "armenian"
	han        = "han" // Chinese, and Japanese with its own letters
	hangul     = "hangul"
)

// replacement is drawn for characters that no font has. The sans font has it.
const replacement = '\ufffd'

// fonts caches the two fonts that every document uses. Other fonts are read on demand.
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

// familyOf returns the font family for the script of a character.
func familyOf(r rune) string {
	switch {
	case r >= 0x0590 && r <= 0x05FF:
		return hebrew
	case isArabic(r):
		return arabic
	case unicode.Is(unicode.Thai, r):
		return thai
	case r >= 0x0900 && r <= 0x097F:
		return devanagari
	case unicode.Is(unicode.Georgian, r):
		return georgian
	case unicode.Is(unicode.Armenian, r):
		return armenian
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

// loadedFont is a font that a document has loaded.
type loadedFont struct {
	file   []byte
	glyphs *sfnt.Font
	isUsed bool // by the document
}

// loadFont loads a font once per document. Only the Latin family has a bold style.
func (d *document) loadFont(family, style string) (*loadedFont, error) {
	if f := d.faces[family+style]; f != nil {
		return f, nil
	}
	file, err := fontOf(family, style)
	if err != nil {
		return nil, err
	}
	glyphs, err := sfnt.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("font %s: %w", family, err)
	}
	d.faces[family+style] = &loadedFont{file: file, glyphs: glyphs}
	return d.faces[family+style], nil
}

// useFont selects a font and adds it to the document on first use.
func (d *document) useFont(family, style string, size float64) {
	if family != sans {
		style = ""
	}
	f, err := d.loadFont(family, style)
	if err != nil {
		d.SetError(err)
		return
	}
	if !f.isUsed {
		f.isUsed = true
		d.AddUTF8FontFromBytes(family, style, f.file)
	}
	d.SetFont(family, style, size)
}

// draw returns the font family and the character to draw for r. If no font has r, draw returns the
// replacement character and records r as missing.
func (d *document) draw(r rune) (family string, drawn rune) {
	for _, family := range []string{familyOf(r), sans, han} {
		if d.hasGlyph(family, r) {
			return family, r
		}
	}
	d.missing[r] = true
	return sans, replacement
}

// hasGlyph reports whether a family has a glyph for r. The PDF library supports only the Basic
// Multilingual Plane.
func (d *document) hasGlyph(family string, r rune) bool {
	if r > 0xFFFF {
		return false
	}
	f, err := d.loadFont(family, "")
	if err != nil {
		d.SetError(err)
		return false
	}
	glyph, err := f.glyphs.GlyphIndex(nil, r)
	return err == nil && glyph != 0
}

// missingCharacters returns the replaced characters in order.
func (d *document) missingCharacters() string {
	return string(slices.Sorted(maps.Keys(d.missing)))
}

// isInvisible reports whether r has no glyph and only affects how its neighbors are drawn.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
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
