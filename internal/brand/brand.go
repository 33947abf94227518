// Package brand has what makes the service look like its operator's product: name, logo,
// color, and where people find help and the terms (rules: settings#brand).
package brand

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultName is what the service calls itself unless the operator says otherwise.
const DefaultName = "Tenantry"

// The colors of the button in mails and of links on pages without an accent.
const (
	defaultAccent     = "#2450c8"
	defaultDarkAccent = "#3f6ae0"
)

// Brand is the operator's brand. The zero value stands for the defaults. All of it is
// public.
type Brand struct {
	Name         string // without control characters; see App
	Logo         Logo
	Accent       string // #rrggbb, dark enough for white text; see Colors
	SupportEmail string
	TermsURL     string // absolute http or https URL
	PrivacyURL   string
}

// App returns the name of the product.
func (b Brand) App() string { return cmp.Or(b.Name, DefaultName) }

// Colors returns the accent for light pages and for dark ones. White text can be read on
// both.
func (b Brand) Colors() (light, dark string) {
	return cmp.Or(b.Accent, defaultAccent), cmp.Or(b.Accent, defaultDarkAccent)
}

// maxName is the longest name, in characters. Subjects of mails have it.
const maxName = 60

// CheckName refuses what cannot be shown as a name in one line.
func CheckName(name string) error {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
	}) {
		return errors.New("must not have control or format characters")
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		return fmt.Errorf("has %d characters, more than %d", n, maxName)
	}
	return nil
}

// minContrast is what text needs to be read on its background (WCAG 2.2, 1.4.3).
const minContrast = 4.5

// CheckAccent refuses what is not a color of the form #rrggbb, and a color on which white
// text cannot be read.
func CheckAccent(color string) error {
	digits, ok := strings.CutPrefix(color, "#")
	n, err := strconv.ParseUint(digits, 16, 24)
	if !ok || err != nil || len(digits) != 6 {
		return fmt.Errorf("%q is not a color of the form #rrggbb", color)
	}
	if contrast := contrastToWhite(uint32(n)); contrast < minContrast {
		// Rounded down, so that 4.4999 does not read as enough.
		return fmt.Errorf("white text on %s cannot be read: the contrast is %.2f, at least %.1f is needed; take a darker color",
			color, math.Floor(contrast*100)/100, minContrast)
	}
	return nil
}

// contrastToWhite returns WCAG's contrast ratio of white and a color 0xrrggbb, from 1 to 21.
func contrastToWhite(color uint32) float64 {
	part := func(shift int) float64 {
		c := float64(color>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	luminance := 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
	return 1.05 / (luminance + 0.05)
}
