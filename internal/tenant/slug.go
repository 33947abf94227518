package tenant

import (
	"crypto/rand"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// maxSlugBase is the maximum length of a slug without a suffix, in bytes, which keeps slugs
// readable.
const maxSlugBase = 60

// slugOf returns a slug for a name: in lower case, without accents, and with one dash for each run
// of other characters. It returns "tenant" for a name without Latin letters and digits.
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
		case c == '\'' || c == '’': // "Ada's" becomes "adas", not "ada-s"
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

// withSuffix adds a random suffix, so that the slug is almost certainly free.
func withSuffix(slug string) string { return slug + "-" + strings.ToLower(rand.Text()[:8]) }
