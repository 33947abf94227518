// Package search finds objects by their words (rules: administration#search). The words of an
// object are stored in lower case, without accents, in the transaction that changes the object. An
// index finds words by prefix, on both databases.
package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// maxWord is the maximum length of a stored word in bytes. PostgreSQL cannot index much longer
// ones. The beginning of a longer word is stored.
const maxWord = 500

// normalize returns a text in a form that ignores case, accents and compatibility variants.
func normalize(text string) string {
	out, _, err := transform.String(transform.Chain(norm.NFKD, runes.Remove(runes.In(unicode.M)), cases.Fold(), norm.NFKD), text)
	if err != nil { // not UTF-8
		return ""
	}
	return out
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// splitWords returns the words of a text, each once.
func splitWords(text string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(normalize(text), isSeparator) {
		if w = shorten(w); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

func shorten(word string) string {
	if len(word) > maxWord {
		word = strings.ToValidUTF8(word[:maxWord], "")
	}
	return word
}

// singleWord returns an email, slug, ID or the like as a single word.
func singleWord(text string) string { return shorten(normalize(strings.TrimSpace(text))) }

// spellings returns the forms in which an email, domain, slug or the like can be typed: the stored one,
// and an international domain, which is stored in punycode, in Unicode.
func spellings(text string) []string {
	if !strings.Contains(text, "xn--") {
		return []string{text}
	}
	at := strings.LastIndexByte(text, '@') + 1
	domain, err := idna.Lookup.ToUnicode(text[at:])
	if err != nil {
		return []string{text}
	}
	return []string{text, text[:at] + domain}
}

// Terms returns the words of a query, which must all be found. A word that is a prefix of another
// word is left out. The longest word is first.
func Terms(query string) []string {
	all := splitWords(query)
	terms := slices.DeleteFunc(slices.Clone(all), func(w string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return other != w && strings.HasPrefix(other, w) })
	})
	slices.SortStableFunc(terms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return terms
}

// Matches reports whether every word of a query is the beginning of a word of one of the texts, without
// regard to case and accents.
func Matches(query string, texts ...string) bool {
	var words []string
	for _, text := range texts {
		for _, spelling := range spellings(text) {
			words = append(words, splitWords(spelling)...)
		}
	}
	terms := Terms(query)
	for _, term := range terms {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, term) }) {
			return false
		}
	}
	return len(terms) > 0
}
