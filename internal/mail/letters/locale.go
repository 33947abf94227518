package letters

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
)

//go:embed locales/*.json
var localeFiles embed.FS

// locale has the texts of one language and its way to write dates and numbers.
// Texts have variables in braces.
type locale struct {
	Months   []string          `json:"months"`
	FirstDay string            `json:"first_day"` // how the first day of a month is written
	Instant  string            `json:"instant"`   // {day} {month} {year} {time}
	Decimal  string            `json:"decimal"`   // what stands before the decimals
	Money    string            `json:"money"`     // {symbol} {amount}
	Roles    map[string]string `json:"roles"`     // the built-in ones
	Fallback string            `json:"fallback"`  // before the address that a button leads to
	Footer   string            `json:"footer"`
	Letters  map[string]texts  `json:"letters"`

	name string
	tag  language.Tag
}

// texts are those of one letter.
type texts struct {
	Subject string   `json:"subject"`
	Body    []string `json:"body"` // paragraphs
	Facts   []fact   `json:"facts"`
	Action  string   `json:"action"` // on the button
	After   []string `json:"after"`  // paragraphs below it
}

// fact is a line with a value. It is left out where the value is empty.
type fact struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

func loadLocales() (map[string]*locale, error) {
	all := map[string]*locale{}
	for _, name := range i18n.Locales() {
		file, err := localeFiles.ReadFile("locales/" + name + ".json")
		if err != nil {
			return nil, err
		}
		in := &locale{name: name, tag: language.Make(name)}
		decoder := json.NewDecoder(bytes.NewReader(file))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(in); err != nil {
			return nil, fmt.Errorf("texts of %s: %w", name, err)
		}
		if len(in.Months) != 12 {
			return nil, fmt.Errorf("texts of %s: %d months", name, len(in.Months))
		}
		all[name] = in
	}
	return all, nil
}

// locale is that of a name, or the default.
func (l *Letters) locale(name string) *locale {
	if in, ok := l.locales[name]; ok {
		return in
	}
	return l.locales[i18n.Default]
}

// instant writes a time in UTC, to the minute.
func (in *locale) instant(t time.Time) string {
	t = t.UTC()
	day := strconv.Itoa(t.Day())
	if t.Day() == 1 {
		day = in.FirstDay
	}
	return fill(in.Instant, map[string]string{
		"day": day, "month": in.Months[t.Month()-1], "year": strconv.Itoa(t.Year()), "time": t.Format("15:04"),
	})
}

// role translates a built-in role; any other is called as its tenant calls it.
func (in *locale) role(name string) string {
	if translated, ok := in.Roles[name]; ok {
		return translated
	}
	return name
}

func (in *locale) percent(n int) string {
	return message.NewPrinter(in.tag).Sprint(number.Percent(float64(n) / 100))
}

// quantity writes as many of the six decimals as there are.
func (in *locale) quantity(q money.Quantity) string {
	const one = 1_000_000
	decimals := strings.TrimRight(fmt.Sprintf("%06d", abs(int64(q)%one)), "0")
	return sign(int64(q)) + in.grouped(abs(int64(q)/one), decimals)
}

// money writes an amount with the symbol of its currency, or with its code where
// the reader knows no symbol.
func (in *locale) money(m money.Money, minorUnits int) string {
	scale := int64(1)
	for range minorUnits {
		scale *= 10
	}
	decimals := ""
	if minorUnits > 0 {
		decimals = fmt.Sprintf("%0*d", minorUnits, abs(m.AmountCents%scale))
	}
	symbol := strings.ToUpper(m.Currency)
	if unit, err := currency.ParseISO(symbol); err == nil {
		symbol = message.NewPrinter(in.tag).Sprint(currency.Symbol(unit))
	}
	if last, _ := utf8.DecodeLastRuneInString(symbol); unicode.IsLetter(last) && strings.HasPrefix(in.Money, "{symbol}{") {
		symbol += "\u00a0" // a code does not touch the figure
	}
	return sign(m.AmountCents) + fill(in.Money, map[string]string{"symbol": symbol, "amount": in.grouped(abs(m.AmountCents/scale), decimals)})
}

// grouped writes a number that is given exactly: no float is in between.
func (in *locale) grouped(whole int64, decimals string) string {
	text := message.NewPrinter(in.tag).Sprint(number.Decimal(whole))
	if decimals != "" {
		text += in.Decimal + decimals
	}
	return text
}

func abs(n int64) int64 { return max(n, -n) }

func sign(n int64) string {
	if n < 0 {
		return "-"
	}
	return ""
}

// fill puts variables in their places, in one pass: a value may look like a
// variable.
func fill(text string, values map[string]string) string {
	pairs := make([]string, 0, 2*len(values))
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
