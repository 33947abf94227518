package page

import (
	"strings"
	"unicode"
)

// escapeLike escapes the special characters of LIKE. The escape character is not the backslash,
// because the databases treat backslashes differently.
var escapeLike = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// contains returns a function that builds the condition that an expression contains text. The
// search ignores case, and no character of text is special.
//
// The databases disagree on case: lower() handles only ASCII on SQLite, and depends on the
// database's locale on PostgreSQL. Therefore contains uses lower() for ASCII only. For each other
// character of text, it first replaces its other forms in the column with the folded form.
// Characters that are not in text cannot affect the result. Texts that differ in more than the case
// of single characters do not match, such as é as one or two code points, or ß and ss.
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

// fold returns the lower-case form that represents all forms of c that differ only in case. The
// Turkish İ and ı count as forms of i, as in some of PostgreSQL's locales.
func fold(c rune) rune {
	least := c
	for form := unicode.SimpleFold(c); form != c; form = unicode.SimpleFold(form) {
		least = min(least, form)
	}
	return unicode.ToLower(unicode.ToUpper(least))
}

// otherForms lists the forms of a folded c that lower() does not reliably convert to c.
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
