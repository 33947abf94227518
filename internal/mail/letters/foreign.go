package letters

import (
	"strings"
	"unicode"
)

// How much of a text that somebody has typed is shown, in characters: maxInSubject in
// the subject of a mail, maxInBody in its body.
const (
	maxInSubject = 60
	maxInBody    = 100
)

// hairSpace is a space that readers hardly see. No host name can contain it, so that a
// text with it is not an address. Characters without any width are no alternative:
// programs that look for addresses may skip them.
const hairSpace = '\u200a'

// sanitizeLine returns a text that somebody has typed as one line of at most limit characters,
// without control characters and those that change the direction of text.
func sanitizeLine(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > limit {
		end := limit - 1
		for end > 0 && !isWhole(runes[end]) { // an accent or a part of an emoji belongs to the character before
			end--
		}
		return strings.TrimRight(string(runes[:end]), " \u200d") + "…"
	}
	return text
}

// isWhole reports whether r can begin what a reader sees as one character.
func isWhole(r rune) bool {
	return !unicode.In(r, unicode.M, unicode.Cf, unicode.Sk) && !unicode.Is(unicode.Variation_Selector, r)
}

// breakLinks changes a text so that mail programs make no links of it. They do so with
// whatever looks like a web or mail address, and the name of a person or a tenant may
// look like one.
func breakLinks(text string) string {
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
