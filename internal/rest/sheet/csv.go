// Package sheet writes CSV files: single rows, and whole lists of the API (rules: http#lists).
package sheet

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/text/width"
)

// ByteOrderMark at the start of a CSV file makes Excel read it as UTF-8.
const ByteOrderMark = "\ufeff"

// AppendRow writes a row of a CSV file (RFC 4180) with every field quoted. Text supplied by callers
// must pass through Text first, and free-form JSON through JSON.
func AppendRow(b *bytes.Buffer, fields ...string) {
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

// Text escapes text that spreadsheets could interpret as a formula. It inserts an apostrophe
// before each character that can start a formula, at the start of the text and after separators,
// since some spreadsheets split fields at other separators than commas.
func Text(text string) string {
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

// JSON is Text for JSON. It escapes the characters that can start a formula as JSON escapes,
// which preserves the value. Numbers are unchanged.
func JSON(text string) string {
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
