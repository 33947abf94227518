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

// readDay parses a date. It returns the first microsecond of the day in UTC, or the last if end is
// set.
func readDay(text string, end bool) (any, *fault.Field) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		return nil, &fault.Field{Message: "validation.date"}
	}
	if end {
		day = day.Add(24*time.Hour - time.Microsecond)
	}
	return day, nil
}

// minSearch is the minimum length of a search by words, in characters.
const minSearch = 2

// readSeveral parses texts that are separated by commas.
func (f Filter) readSeveral(text string) (any, *fault.Field) {
	var several []string
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		if len(f.Values) > 0 && !slices.Contains(f.Values, one) {
			return nil, &fault.Field{Message: "validation.enum", Args: map[string]any{"values": strings.Join(f.Values, ", ")}}
		}
		value, problem := f.parseText(one)
		if problem != nil {
			return nil, problem
		}
		if !slices.Contains(several, value) {
			several = append(several, value)
		}
	}
	if len(several) > maxSeveral {
		return nil, &fault.Field{Message: "validation.max_items", Args: map[string]any{"max": maxSeveral}}
	}
	return several, nil
}

// maxSeveral is the maximum number of values of a filter.
const maxSeveral = 100

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
	case DayFrom, DayTo:
		return readDay(text, f.Kind == DayTo)
	case AnyOf:
		return f.readSeveral(text)
	case Prefix:
		value, problem := f.parseText(text)
		return strings.ToUpper(value), problem
	case Words:
		switch n := utf8.RuneCountInString(text); {
		case n < minSearch:
			return nil, &fault.Field{Message: "validation.min_length", Args: map[string]any{"min": minSearch}}
		case n > maxText:
			return nil, &fault.Field{Message: "validation.max_length", Args: map[string]any{"max": maxText}}
		}
		return text, nil
	default:
		value, problem := f.parseText(text)
		return value, problem
	}
}

// parseText returns the value to compare with.
func (f Filter) parseText(text string) (string, *fault.Field) {
	if utf8.RuneCountInString(text) > maxText {
		return "", &fault.Field{Message: "validation.max_length", Args: map[string]any{"max": maxText}}
	}
	if f.Parse == nil {
		return text, nil
	}
	value, message := f.Parse(text)
	if message != "" {
		return "", &fault.Field{Message: message}
	}
	return value, nil
}

// parseDate parses a datetime or a date. For a date, it returns the first microsecond of the day in
// UTC, or the last if end is set. Years are limited to the range that both databases support.
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
