package history

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/text/width"
)

// byteOrderMark begins a CSV file that Excel is to read as UTF-8.
const byteOrderMark = "\ufeff"

// appendCSV writes a row of a CSV file (RFC 4180) with every field in quotes. A text of
// a caller goes through csvText first, free-form JSON through csvJSON.
func appendCSV(b *bytes.Buffer, fields ...string) {
	for i, field := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(field, `"`, `""`))
		b.WriteByte('"')
	}
	b.WriteByte('\n')
}

// csvText returns a text that spreadsheets do not take for a formula: an apostrophe stands
// before each character that begins one, at the start of the text or after a separator, since
// some spreadsheets split fields at other separators than the file's.
func csvText(text string) string {
	var out strings.Builder
	if text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		out.WriteByte('\'')
	}
	scanFormulas(text, func(r rune, isFormula bool) {
		if isFormula {
			out.WriteByte('\'')
		}
		out.WriteRune(r)
	})
	return out.String()
}

// csvJSON is csvText for JSON: the characters that begin a formula are escaped as JSON does, so
// that the value stays the same. Numbers are left alone.
func csvJSON(text string) string {
	var out strings.Builder
	inString, escaped := false, false
	scanFormulas(text, func(r rune, isFormula bool) {
		if inString && isFormula && !escaped {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
		switch {
		case escaped:
			escaped = false
		case inString && r == '\\':
			escaped = true
		case r == '"':
			inString = !inString
		}
	})
	return out.String()
}

// scanFormulas calls f with each character of a text, and whether it begins a formula. Full-width
// characters count as their narrow forms, as some spreadsheets convert them.
func scanFormulas(text string, f func(r rune, isFormula bool)) {
	isStart := true
	for _, r := range text {
		narrow := r
		if n := width.LookupRune(r).Narrow(); n != 0 {
			narrow = n
		}
		isFormula := isStart && strings.ContainsRune("=+-@", narrow)
		switch {
		case strings.ContainsRune(",;|\t\r\n", narrow):
			isStart = true
		case !strings.ContainsRune(" \u00a0\"", narrow):
			isStart = false
		}
		f(r, isFormula)
	}
}
