package letters

import (
	"strings"
	"unicode"
)

// How much of a text that somebody has typed is shown, in characters.
const (
	maxInSubject = 60
	maxInBody    = 100
)

// hairSpace is a space that is hardly seen. Unlike the characters of no width,
// which programs that look for addresses may skip, no host name can contain it:
// what they find is no address any more.
const hairSpace = '\u200a'

// clean makes one line of at most limit characters of a text that somebody has
// typed, without control characters and those that turn the direction of text.
func clean(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > limit {
		end := limit - 1
		for end > 0 && !isWhole(runes[end]) { // an accent, or half of an emoji, belongs to what is before
			end--
		}
		return strings.TrimRight(string(runes[:end]), " \u200d") + "…"
	}
	return text
}

// isWhole tells whether a character can begin what a reader sees as one.
func isWhole(r rune) bool {
	return !unicode.In(r, unicode.M, unicode.Cf, unicode.Sk) && !unicode.Is(unicode.Variation_Selector, r)
}

// unlinked keeps mail programs from making links of a text: they do so with
// whatever looks like an address of the web or of mail, and a person or a tenant
// may be called like one.
func unlinked(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		b.WriteRune(r)
		if strings.ContainsRune(".:@。．｡", r) && i+1 < len(runes) && !unicode.IsSpace(runes[i+1]) {
			b.WriteRune(hairSpace)
		}
	}
	return b.String()
}
