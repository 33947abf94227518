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

// The fonts, made by scripts/fonts. They are compressed, and a document has only those that it
// needs, of which only the characters that it shows.
//
//go:embed fonts/*.gz
var fontFiles embed.FS

// The families of a document.
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

// replacement is drawn for a character that no font has; sans has it.
const replacement = '\ufffd'

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

// familyOf returns the family for the script of a character.
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

// loadedFont is a font that a document has read.
type loadedFont struct {
	file   []byte
	glyphs *sfnt.Font
	isUsed bool // in the document
}

// loadFont reads a font once. Only the Latin family has a bold style.
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

// useFont makes a family current, in a style, and adds it to the document at its first use.
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

// draw returns the family and the character to draw for r. It records a character that
// no font has, which becomes the replacement.
func (d *document) draw(r rune) (family string, drawn rune) {
	for _, family := range []string{familyOf(r), sans, han} {
		if d.hasGlyph(family, r) {
			return family, r
		}
	}
	d.missing[r] = true
	return sans, replacement
}

// hasGlyph reports whether a family has a character. The PDF library knows only the Basic
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

// missingCharacters returns the characters that the document replaced, in order.
func (d *document) missingCharacters() string {
	return string(slices.Sorted(maps.Keys(d.missing)))
}

// isInvisible reports whether a character changes how its neighbors are drawn, and has no
// glyph of its own.
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
