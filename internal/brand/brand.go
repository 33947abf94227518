// Package brand describes the operator's brand: name, logo, color, support address and legal pages
// (rules: settings#brand).
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

// DefaultName is the default name of the product.
const DefaultName = "Tenantry"

// The default colors of buttons in mail and of links on pages.
const (
	defaultAccent     = "#0b6470"
	defaultDarkAccent = "#1f6e7a"
)

// Brand is the operator's brand. The zero value means the defaults. All of it is public.
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

// Colors returns the accents for light and dark pages. White text is readable on both.
func (b Brand) Colors() (light, dark string) {
	return cmp.Or(b.Accent, defaultAccent), cmp.Or(b.Accent, defaultDarkAccent)
}

// maxName is the maximum length of the name, in characters. It is used in subjects of mail.
const maxName = 60

// CheckName returns an error if the name cannot be shown in one line.
func CheckName(name string) error {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
	}) {
		return errors.New("must not contain control or format characters")
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		return fmt.Errorf("has %d characters; the maximum is %d", n, maxName)
	}
	return nil
}

// minContrast is the minimum contrast of text (WCAG 2.2, 1.4.3).
const minContrast = 4.5

// CheckAccent returns an error if the color does not have the form #rrggbb, or if white text is not
// readable on it.
func CheckAccent(color string) error {
	digits, ok := strings.CutPrefix(color, "#")
	n, err := strconv.ParseUint(digits, 16, 24)
	if !ok || err != nil || len(digits) != 6 {
		return fmt.Errorf("%q must be a color in the form #rrggbb", color)
	}
	if contrast := contrastToWhite(uint32(n)); contrast < minContrast {
		// Round down, so that 4.4999 is not shown as sufficient.
		return fmt.Errorf("too light for white text: the contrast of %s is %.2f, at least %.1f is required; choose a darker color",
			color, math.Floor(contrast*100)/100, minContrast)
	}
	return nil
}

// contrastToWhite returns the WCAG contrast ratio of white and the color 0xrrggbb, from 1 to 21.
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
