package page

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
)

// maxText is the maximum length of a search text in characters. Names and slugs are not longer.
const maxText = 255

// read parses the text of a filter. If it is invalid, read returns the problem.
func (f Filter) read(text string) (any, *fault.Field) {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return nil, &fault.Field{Message: "validation.characters"}
	}
	switch f.Kind {
	case Bool:
		switch text {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, &fault.Field{Message: "validation.boolean"}
	case UUID:
		id, err := uuid.Parse(text)
		if err != nil || len(text) != 36 {
			return nil, &fault.Field{Message: "validation.uuid"}
		}
		return id, nil
	case Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, &fault.Field{Message: "validation.integer"}
		}
		return n, nil
	case Enum:
		if !slices.Contains(f.Values, text) {
			return nil, &fault.Field{Message: "validation.enum", Args: map[string]any{"values": strings.Join(f.Values, ", ")}}
		}
		return text, nil
	case DateFrom, DateTo:
		at, ok := parseDate(text, f.Kind == DateTo)
		if !ok {
			return nil, &fault.Field{Message: "validation.datetime"}
		}
		return at, nil
	default:
		if utf8.RuneCountInString(text) > maxText {
			return nil, &fault.Field{Message: "validation.max_length", Args: map[string]any{"max": maxText}}
		}
		return text, nil
	}
}

// parseDate parses a datetime or a date. A date is its first microsecond in UTC, or its last if end
// is set. Years are limited to the range that both databases support.
func parseDate(text string, end bool) (time.Time, bool) {
	at, err := clock.ParseRFC3339(text)
	if err != nil {
		if at, err = time.Parse(time.DateOnly, text); err != nil {
			return time.Time{}, false
		}
		if end {
			at = at.Add(24*time.Hour - time.Microsecond)
		}
	}
	at = at.UTC().Truncate(time.Microsecond)
	return at, at.Year() >= 1 && at.Year() <= 9999
}
