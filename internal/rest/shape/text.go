package shape

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// NormalText returns the form in which the service stores, looks up and compares text: Unicode NFC,
// so that é is always one code point, without leading and trailing spaces. Passwords have a
// different form (account.Passwords).
func NormalText(text string) string { return strings.TrimSpace(norm.NFC.String(text)) }

func (v *validator) checkString(s *Schema, raw jsontext.Value, path string) jsontext.Value {
	if raw.Kind() != '"' {
		return v.fail(path, "validation.string")
	}
	text := string(unquote(raw))
	if s.Format != "password" {
		text = NormalText(text)
	}
	if v.hasBadCharacters(text, s.Format == "multiline") {
		return v.fail(path, "validation.characters")
	}
	length := utf8.RuneCountInString(text)
	if s.Format == "password" {
		length = PasswordLength(text)
		if s.MaxLength > 0 && len(text) > s.MaxLength {
			length = len(text) // the password limit is in bytes, because hashing costs time per byte
		}
	}
	switch {
	case length == 0 && s.MinLength > 0:
		return v.fail(path, "validation.required")
	case length < s.MinLength:
		return v.failWith(path, "validation.min_length", "min", s.MinLength)
	case s.MaxLength > 0 && length > s.MaxLength:
		return v.failWith(path, "validation.max_length", "max", s.MaxLength)
	case !s.inEnum(text):
		return v.failWith(path, "validation.enum", "values", strings.Join(s.Enum, ", "))
	case s.Pattern != nil && !s.Pattern.MatchString(text):
		return v.fail(path, "validation.pattern")
	}
	if check := formats[s.Format]; check.valid != nil && !check.valid(text) {
		return v.fail(path, check.message)
	}
	if s.Format == "currency" {
		text = strings.ToUpper(text)
	}
	if len(text) == len(raw)-2 && string(raw[1:len(raw)-1]) == text { // nothing to trim, nothing escaped
		return raw
	}
	return quote(text)
}

func (s *Schema) inEnum(text string) bool { return len(s.Enum) == 0 || slices.Contains(s.Enum, text) }

// PasswordLength returns the number of characters of a password in the form that is hashed.
func PasswordLength(password string) int {
	return utf8.RuneCountInString(norm.NFKC.String(password))
}

// hasBadCharacters reports whether a text contains control characters or invalid UTF-8.
func (v *validator) hasBadCharacters(text string, multiline bool) bool {
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

// IsName reports whether a text only contains characters allowed in names. Invisible or misleading
// characters could make one name look like another (rules: http#requests).
func IsName(text string) bool { return !strings.ContainsFunc(text, NotInName) }

// NotInName reports whether a character is not allowed in names: control characters, format
// characters (zero width, text direction), line separators, and private use characters.
func NotInName(c rune) bool {
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// CleanText reports whether every database can store the texts: they contain no control characters
// and no invalid UTF-8.
func CleanText(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || new(validator).hasBadCharacters(text, false) {
			return false
		}
	}
	return true
}
