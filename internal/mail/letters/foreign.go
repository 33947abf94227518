package letters

import (
	"strings"
	"unicode"
)

// Maximum length of displayed user input in characters: maxInSubject in the subject of a mail,
// maxInBody in its body.
const (
	maxInSubject = 60
	maxInBody    = 100
)

// hairSpace is a barely visible space. Host names cannot contain it, so mail programs do not take a
// text with it for an address. A zero-width character would not work, because programs that detect
// addresses can ignore it.
const hairSpace = '\u200a'

// sanitizeLine returns user input as a single line of at most limit characters, without control
// characters and characters that change the text direction.
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
		for end > 0 && !isWhole(runes[end]) { // an accent or a part of an emoji belongs to the previous character
			end--
		}
		return strings.TrimRight(string(runes[:end]), " \u200d") + "…"
	}
	return text
}

// isWhole reports whether r can start a user-perceived character.
func isWhole(r rune) bool {
	return !unicode.In(r, unicode.M, unicode.Cf, unicode.Sk) && !unicode.Is(unicode.Variation_Selector, r)
}

// breakLinks changes a text so that mail programs do not turn it into links. They link everything
// that looks like a web or mail address, and the name of a person or a tenant can look like one.
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
