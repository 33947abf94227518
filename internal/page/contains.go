package page

import (
	"strings"
	"unicode"
)

// escapeLike makes the characters that LIKE gives a meaning stand for
// themselves. The escape character is not the backslash, so that a backslash is
// nothing special on either database.
var escapeLike = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// contains looks for a text in expressions, without regard to case and with
// every character standing for itself.
//
// The databases do not agree on case: lower() knows only ASCII on SQLite, and
// on PostgreSQL whatever the database's locale does. So lower() is left with
// ASCII. Before it, for each character of the text that has other forms, these
// are replaced one by one; a character that the text does not have cannot make
// a difference. What differs in more than the case of single characters is not
// found: é in one and in two code points, ß and ss.
func (b *builder) contains(text string) func(expr string) string {
	folded := strings.Map(fold, text)
	var replacements []string
	seen := map[rune]bool{}
	for _, c := range folded {
		forms := otherForms(c)
		if seen[c] || len(forms) == 0 {
			continue
		}
		seen[c] = true
		to := b.arg(string(c))
		for _, form := range forms {
			replacements = append(replacements, ", "+b.arg(string(form))+", "+to+")")
		}
	}
	pattern := b.arg("%" + escapeLike.Replace(folded) + "%")
	head := "lower(" + strings.Repeat("replace(", len(replacements))
	tail := strings.Join(replacements, "") + ") LIKE " + pattern + " ESCAPE '!'"
	return func(expr string) string { return head + expr + tail }
}

// fold returns the one form that stands for all forms of c that differ only in
// case: a lower-case one. The Turkish İ and ı count as forms of i, as some of
// PostgreSQL's locales have it.
func fold(c rune) rune {
	least := c
	for form := unicode.SimpleFold(c); form != c; form = unicode.SimpleFold(form) {
		least = min(least, form)
	}
	return unicode.ToLower(unicode.ToUpper(least))
}

// otherForms lists the forms of a folded c that lower() does not reliably make c.
func otherForms(c rune) []rune {
	if c == 'i' {
		return []rune{'İ', 'ı'}
	}
	var forms []rune
	for form := unicode.SimpleFold(c); form != c; form = unicode.SimpleFold(form) {
		if form > unicode.MaxASCII {
			forms = append(forms, form)
		}
	}
	return forms
}
