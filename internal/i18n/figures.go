package i18n

import (
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

	"github.com/tenantry/tenantry/internal/money"
)

// Formatter formats dates, numbers and amounts of money for a locale.
type Formatter struct {
	tag      language.Tag
	months   [12]string
	firstDay string // first day of a month
	date     string // with {day}, {month} and {year}
	instant  string // with {day}, {month}, {year} and {time}
	decimal  string // decimal separator
	money    string // with {symbol} and {amount}
	group    string // digit group separator, if it differs from the library's
	millions bool   // whole millions have a separate plural form
}

// NewFormatter returns the Formatter of a locale. An unsupported locale means the default.
func NewFormatter(locale string) Formatter {
	switch locale {
	case "fr":
		return Formatter{
			tag: language.French, firstDay: "1er", decimal: ",", money: "{amount}\u00a0{symbol}", group: "\u202f", millions: true,
			date: "{day} {month} {year}", instant: "{day} {month} {year} à {time} (UTC)",
			months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
		}
	case "es":
		return Formatter{
			tag: language.Spanish, firstDay: "1", decimal: ",", money: "{amount}\u00a0{symbol}", millions: true,
			date: "{day} de {month} de {year}", instant: "{day} de {month} de {year} a las {time} UTC",
			months: [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
		}
	case "it":
		return Formatter{
			tag: language.Italian, firstDay: "1º", decimal: ",", money: "{amount}\u00a0{symbol}", millions: true,
			date: "{day} {month} {year}", instant: "{day} {month} {year} alle ore {time} UTC",
			months: [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
		}
	default:
		return Formatter{
			tag: language.English, firstDay: "1", decimal: ".", money: "{symbol}{amount}",
			date: "{day} {month} {year}", instant: "{day} {month} {year} at {time} UTC",
			months: [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
		}
	}
}

func (f Formatter) day(t time.Time) string {
	if t.Day() == 1 {
		return f.firstDay
	}
	return strconv.Itoa(t.Day())
}

// Date formats the date of a time in UTC.
func (f Formatter) Date(t time.Time) string {
	t = t.UTC()
	return Fill(f.date, map[string]string{"day": f.day(t), "month": f.months[t.Month()-1], "year": strconv.Itoa(t.Year())})
}

// Instant formats a time in UTC, to the minute.
func (f Formatter) Instant(t time.Time) string {
	t = t.UTC()
	return Fill(f.instant, map[string]string{
		"day": f.day(t), "month": f.months[t.Month()-1], "year": strconv.Itoa(t.Year()), "time": f.clock(t),
	})
}

// clock formats the time of day.
func (f Formatter) clock(t time.Time) string {
	if f.tag == language.French {
		return fmt.Sprintf("%d\u00a0h\u00a0%02d", t.Hour(), t.Minute())
	}
	return t.Format("15:04")
}

// Rate formats a rate in millionths as a percentage, such as 5.5%.
func (f Formatter) Rate(millionths int64) string {
	sign := "%"
	if f.tag == language.French || f.tag == language.Spanish {
		sign = "\u00a0%"
	}
	return f.Millionths(millionths*100) + sign
}

// Percent formats a whole percentage.
func (f Formatter) Percent(n int) string {
	return message.NewPrinter(f.tag).Sprint(number.Percent(float64(n) / 100))
}

// Total formats a total without trailing zeros in its six decimals.
func (f Formatter) Total(t money.Total) string {
	return f.groupDigits(t.Units, decimals(t))
}

// decimals returns the six decimals of a total without trailing zeros.
func decimals(t money.Total) string { return strings.TrimRight(fmt.Sprintf("%06d", t.Millionths), "0") }

// Millionths formats a number of millionths without trailing zeros.
func (f Formatter) Millionths(n int64) string {
	const one = 1_000_000
	return sign(n) + f.Total(money.Total{Units: abs(n / one), Millionths: abs(n % one)})
}

// Decimal formats a number given as text, such as "1234.5", and keeps its decimals.
func (f Formatter) Decimal(text string) string {
	digits, isNegative := strings.CutPrefix(text, "-")
	whole, decimals, _ := strings.Cut(digits, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return text
	}
	minus := ""
	if isNegative { // also for a number between -1 and 0
		minus = "-"
	}
	return minus + f.groupDigits(n, decimals)
}

// UnitPrice formats the price of one unit, which may be a fraction of the currency's smallest coin.
// minor is in minor units, as text such as "0.0123".
func (f Formatter) UnitPrice(minor, code string, minorUnits int) string {
	digits, negative := strings.CutPrefix(minor, "-")
	whole, decimals, _ := strings.Cut(digits, ".")
	for len(whole) <= minorUnits {
		whole = "0" + whole
	}
	units, coins := whole[:len(whole)-minorUnits], whole[len(whole)-minorUnits:]
	n, err := strconv.ParseInt(units, 10, 64)
	if err != nil {
		return minor
	}
	amount := f.withSymbol(code, f.groupDigits(n, coins+decimals))
	if negative {
		return sign(-1) + amount
	}
	return amount
}

// Money formats an amount with the symbol of its currency, or with its code if the locale lacks a
// common symbol. minorUnits is the number of decimals of the currency: 0, 2 or 3.
func (f Formatter) Money(m money.Money, minorUnits int) string {
	scale := int64(1)
	for range minorUnits {
		scale *= 10
	}
	decimals := ""
	if minorUnits > 0 {
		decimals = fmt.Sprintf("%0*d", minorUnits, abs(m.AmountCents%scale))
	}
	return sign(m.AmountCents) + f.withSymbol(m.Currency, f.groupDigits(abs(m.AmountCents/scale), decimals))
}

// withSymbol adds the symbol of a currency to an amount.
func (f Formatter) withSymbol(code, amount string) string {
	symbol := strings.ToUpper(code)
	if unit, err := currency.ParseISO(symbol); err == nil {
		symbol = message.NewPrinter(f.tag).Sprint(currency.Symbol(unit))
	}
	if last, _ := utf8.DecodeLastRuneInString(symbol); unicode.IsLetter(last) && strings.HasPrefix(f.money, "{symbol}{") {
		symbol += "\u00a0" // separate a code from the amount
	}
	return Fill(f.money, map[string]string{"symbol": symbol, "amount": amount})
}

// groupDigits formats an exact number without converting it to a float.
func (f Formatter) groupDigits(whole int64, decimals string) string {
	text := message.NewPrinter(f.tag).Sprint(number.Decimal(whole))
	if f.group != "" {
		text = strings.ReplaceAll(text, "\u00a0", f.group)
	}
	if decimals != "" {
		text += f.decimal + decimals
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

// Fill replaces {name} placeholders with values, in one pass, because a value may look like a
// placeholder.
func Fill(text string, values map[string]string) string {
	pairs := make([]string, 0, 2*len(values))
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
