package money

import "strings"

// ParseCurrency returns the upper-case form of a currency code, and whether the text has the form of
// an ISO 4217 code: three ASCII letters, in either case.
func ParseCurrency(text string) (code string, ok bool) {
	for _, c := range []byte(text) {
		if letter := c | 0x20; letter < 'a' || letter > 'z' {
			return "", false
		}
	}
	return strings.ToUpper(text), len(text) == 3
}
