package tenant

import (
	"crypto/rand"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// maxSlugBase leaves room for a suffix in a slug that a person can still read.
const maxSlugBase = 60

// slugOf makes a URL-safe slug of a name: accents dropped, lower case, one dash
// for each run of anything else. A name without a single Latin letter or digit
// gives "tenant".
func slugOf(name string) string {
	plain, _, err := transform.String(transform.Chain(norm.NFKD, runes.Remove(runes.In(unicode.Mn))), name)
	if err != nil {
		plain = name
	}
	var b strings.Builder
	for _, c := range strings.ToLower(plain) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case c == '\'' || c == '’': // "Ada's" is "adas", not "ada-s"
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxSlugBase {
			break
		}
	}
	slug := strings.Trim(b.String(), "-")
	if slug == "" {
		return "tenant"
	}
	return slug
}

// withSuffix makes a slug that nobody else has, in all likelihood.
func withSuffix(slug string) string { return slug + "-" + strings.ToLower(rand.Text()[:8]) }
