package i18n

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/feature/plural"

	"github.com/tenantry/tenantry/internal/money"
)

// Message is a text with {placeholders}. In a catalog it is a string, or, if it depends on a
// number, an object with a text for each CLDR plural category and the name of the placeholder that
// selects it:
//
//	{"count": "max", "one": "{max} entry", "other": "{max} entries"}
type Message struct {
	count string // selecting placeholder; "" for a text with one form
	forms map[string]string
}

// Categories returns the plural categories of a locale for whole numbers.
func Categories(locale string) []string {
	if locale == Default {
		return []string{"one", "other"}
	}
	return []string{"one", "many", "other"}
}

// category returns the plural category of a number. The library's tables lack the category "many"
// of French, Spanish and Italian, as in "un million d’appels".
func (f Formatter) category(n money.Total) string {
	if f.millions && n.Units != 0 && n.Units%1_000_000 == 0 && n.Millionths == 0 {
		return "many"
	}
	if f.Singular(n) {
		return "one"
	}
	return "other"
}

// Singular reports whether the language uses the singular for the number. French does for all
// numbers below two.
func (f Formatter) Singular(n money.Total) bool {
	whole, decimals := strconv.FormatInt(n.Units, 10), decimals(n)
	digits := []byte(whole + decimals)
	for i := range digits {
		digits[i] -= '0'
	}
	return plural.Cardinal.MatchDigits(f.tag, digits, len(whole), len(decimals)) == plural.One
}

// UnmarshalJSON reads a message in either format.
func (m *Message) UnmarshalJSON(text []byte) error {
	*m = Message{forms: map[string]string{}}
	if text[0] == '"' {
		var only string
		err := json.Unmarshal(text, &only)
		m.forms["other"] = only
		return err
	}
	if err := json.Unmarshal(text, &m.forms); err != nil {
		return err
	}
	m.count = m.forms["count"]
	delete(m.forms, "count")
	if m.count == "" || m.forms["other"] == "" {
		return fmt.Errorf("a message with plural forms needs count and other: %s", text)
	}
	return nil
}

// Forms returns the texts of a message by category. A message that does not depend on a number only
// has "other".
func (m Message) Forms() map[string]string { return m.forms }

// Digits is a number given as text, to be formatted for the locale.
type Digits string

// MarshalJSON encodes the number as a JSON number.
func (d Digits) MarshalJSON() ([]byte, error) { return []byte(d), nil }

// Text returns the message with its placeholders filled. Numbers are formatted for the locale.
func (m Message) Text(locale string, args map[string]any) string {
	form := m.forms["other"]
	if len(args) == 0 {
		return form
	}
	figures := NewFormatter(locale)
	if n, ok := pluralNumber(args[m.count]); ok && m.count != "" {
		if chosen, ok := m.forms[figures.category(n)]; ok {
			form = chosen
		}
	}
	pairs := make([]string, 0, 2*len(args))
	for name, value := range args {
		pairs = append(pairs, "{"+name+"}", figures.formatValue(value))
	}
	return strings.NewReplacer(pairs...).Replace(form) // one pass, because a value may look like a placeholder
}

// pluralNumber returns the number that selects a plural form.
func pluralNumber(value any) (money.Total, bool) {
	if n, ok := value.(money.Total); ok {
		return n, true
	}
	n, ok := wholeNumber(value)
	return money.Total{Units: abs(n)}, ok
}

func wholeNumber(value any) (int64, bool) {
	switch n := value.(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

func (f Formatter) formatValue(value any) string {
	if n, ok := wholeNumber(value); ok {
		return sign(n) + f.groupDigits(abs(n), "")
	}
	switch n := value.(type) {
	case Digits:
		return f.Decimal(string(n))
	case money.Total:
		return f.Total(n)
	}
	return fmt.Sprint(value)
}
