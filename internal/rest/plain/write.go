// Package plain reads and writes the JSON of the busiest routes without reflection. What
// writes itself here writes the same bytes as package json does. What reads itself here reads
// only the form in which programs write a body, and leaves any other to the general way, which
// validates it (see package shape). Fuzz tests beside each type hold that the two ways agree.
package plain

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Writer is what a part of an answer implements that appends itself as JSON: exactly what
// package json writes for it.
type Writer interface{ AppendJSON(dst []byte) []byte }

// Text appends a string. Invalid UTF-8 becomes replacement characters.
func Text[S ~string](dst []byte, text S) []byte {
	dst, _ = jsontext.AppendQuote(dst, string(text))
	return dst
}

// TextOrNull appends a string, null for nil.
func TextOrNull(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, "null"...)
	}
	return Text(dst, *text)
}

// Texts appends a list of strings.
func Texts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Text(dst, text)
	}
	return append(dst, ']')
}

// ID appends a UUID.
func ID(dst []byte, id uuid.UUID) []byte {
	var text [38]byte
	text[0], text[37] = '"', '"'
	text[9], text[14], text[19], text[24] = '-', '-', '-', '-'
	hex.Encode(text[1:9], id[:4])
	hex.Encode(text[10:14], id[4:6])
	hex.Encode(text[15:19], id[6:8])
	hex.Encode(text[20:24], id[8:10])
	hex.Encode(text[25:37], id[10:])
	return append(dst, text[:]...)
}

// IntOrNull appends an integer, null for nil.
func IntOrNull(dst []byte, n *int64) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, *n, 10)
}

// FloatOrNull appends a finite number, null for nil.
func FloatOrNull(dst []byte, f *float64) []byte {
	switch {
	case f == nil:
		return append(dst, "null"...)
	case *f == 0 || math.Abs(*f) >= 1e-6 && math.Abs(*f) < 1e21:
		return strconv.AppendFloat(dst, *f, 'f', -1, 64)
	default: // with an exponent
		return append(dst, jsontext.Float(*f).String()...)
	}
}

// Time appends a datetime in UTC with six fraction digits, which is how the API writes each.
func Time(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(append(dst, '"'), "2006-01-02T15:04:05.000000Z")
	return append(dst, '"')
}
