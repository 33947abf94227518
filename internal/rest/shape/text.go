package shape

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// NormalText returns the form in which the service stores, looks up and compares text:
// Unicode NFC, so that é is one code point however a keyboard writes it, without spaces
// around it. Passwords have a form of their own (account.Passwords).
func NormalText(text string) string { return strings.TrimSpace(norm.NFC.String(text)) }

func (v *validator) checkString(n *Rules, raw jsontext.Value, path string) jsontext.Value {
	if raw.Kind() != '"' {
		return v.fail(path, "validation.string")
	}
	text := string(unquote(raw))
	if n.format != "password" {
		text = NormalText(text)
	}
	if v.badCharacters(text, n.format == "multiline") {
		return v.fail(path, "validation.characters")
	}
	length := utf8.RuneCountInString(text)
	if n.format == "password" {
		length = PasswordLength(text)
		if n.maxLength > 0 && len(text) > n.maxLength {
			length = len(text) // a password is bounded in bytes: hashing costs by the byte
		}
	}
	switch {
	case length == 0 && n.minLength > 0:
		return v.fail(path, "validation.required")
	case length < n.minLength:
		return v.failWith(path, "validation.min_length", "min", n.minLength)
	case n.maxLength > 0 && length > n.maxLength:
		return v.failWith(path, "validation.max_length", "max", n.maxLength)
	case !n.inEnum(text):
		return v.failWith(path, "validation.enum", "values", strings.Join(n.enum, ", "))
	case n.pattern != nil && !n.pattern.MatchString(text):
		return v.fail(path, "validation.pattern")
	}
	if check := formats[n.format]; check.valid != nil && !check.valid(text) {
		return v.fail(path, check.message)
	}
	if n.format == "currency" {
		text = strings.ToUpper(text)
	}
	if len(text) == len(raw)-2 && string(raw[1:len(raw)-1]) == text { // nothing to trim, nothing escaped
		return raw
	}
	out, _ := jsontext.AppendQuote(nil, text)
	return out
}

func (n *Rules) inEnum(text string) bool { return len(n.enum) == 0 || slices.Contains(n.enum, text) }

// PasswordLength returns the number of characters of a password, in the form that is hashed.
func PasswordLength(password string) int {
	return utf8.RuneCountInString(norm.NFKC.String(password))
}

// badCharacters reports whether a text has control characters or invalid UTF-8.
func (v *validator) badCharacters(text string, multiline bool) bool {
	for _, c := range text {
		if multiline && (c == '\n' || c == '\r' || c == '\t') {
			continue
		}
		if unicode.IsControl(c) || c == utf8.RuneError && v.suspect {
			return true
		}
	}
	return false
}

// IsName reports whether a text has only characters that a name may have: what people
// cannot see, or see differently, would let one name pass for another (rules:
// http#requests).
func IsName(text string) bool { return !strings.ContainsFunc(text, NotInName) }

// NotInName reports whether no name has a character: control characters, those that only
// format (zero width, direction of text), line separators, and private ones.
func NotInName(c rune) bool {
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// CleanText reports whether every database can store the texts: they have no
// control characters and no invalid UTF-8.
func CleanText(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || new(validator).badCharacters(text, false) {
			return false
		}
	}
	return true
}
