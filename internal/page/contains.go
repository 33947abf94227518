package page

import (
	"strings"
	"unicode"
)

// escapeLike escapes the characters that have a meaning in LIKE. The escape character
// is not the backslash, because the databases treat backslashes differently.
var escapeLike = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// contains returns a function that writes the search for a text in an expression. The
// search ignores case, and no character of the text has a special meaning.
//
// The databases disagree on case: on SQLite lower() knows only ASCII, on PostgreSQL it
// depends on the database's locale. So lower() is used for ASCII alone. For each other
// character of the text, its forms in the column are first replaced by one of them;
// characters that the text does not contain cannot matter. Texts that differ in more
// than the case of single characters do not match: é as one and as two code points, or
// ß and ss.
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

// fold returns the lower-case form that stands for all forms of c that differ only in
// case. The Turkish İ and ı count as forms of i, as in some of PostgreSQL's locales.
func fold(c rune) rune {
	least := c
	for form := unicode.SimpleFold(c); form != c; form = unicode.SimpleFold(form) {
		least = min(least, form)
	}
	return unicode.ToLower(unicode.ToUpper(least))
}

// otherForms lists the forms of a folded c that lower() does not reliably turn into c.
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
