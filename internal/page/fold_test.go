package page

import (
	"testing"
	"unicode"
)

// All forms of a character fold to the same form, which lower() does not change.
func TestFold(t *testing.T) {
	t.Parallel()
	for c := rune(0); c <= unicode.MaxRune; c++ {
		folded := fold(c)
		if fold(folded) != folded || unicode.ToLower(folded) != folded {
			t.Errorf("%U folds to %U, which is not folded", c, folded)
		}
		if next := unicode.SimpleFold(c); fold(next) != folded {
			t.Errorf("%U and %U differ only in case and fold to %U and %U", c, next, folded, fold(next))
		}
		if c <= unicode.MaxASCII || c == folded { // lower() handles these
			continue
		}
		found := false
		for _, form := range otherForms(folded) {
			found = found || form == c
		}
		if !found {
			t.Errorf("%U is not among the forms of %U", c, folded)
		}
	}
}
