package history

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/text/width"
)

// byteOrderMark at the start of a CSV file makes Excel read it as UTF-8.
const byteOrderMark = "\ufeff"

// appendCSV writes a row of a CSV file (RFC 4180) with every field quoted. Text supplied by callers
// must pass through csvText first, and free-form JSON through csvJSON.
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

// csvText escapes text that spreadsheets could interpret as a formula. It inserts an apostrophe
// before each character that can start a formula, at the start of the text and after separators,
// since some spreadsheets split fields at other separators than commas.
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

// csvJSON is csvText for JSON. It escapes the characters that can start a formula as JSON escapes,
// which preserves the value. Numbers are unchanged.
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

// scanFormulas calls f with each character of a text and whether it can start a formula. Full-width
// characters count as their narrow forms, because some spreadsheets convert them.
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
