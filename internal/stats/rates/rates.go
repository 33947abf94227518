// Package rates stores exchange rates and converts amounts with them (rules: stats#exchange-rates).
package rates

import (
	"math/big"
	"math/bits"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// Decimals is the maximum number of decimals of a rate.
const Decimals = 10

// maxAge is the maximum age of a rate, in days. If all earlier rates are older, the rate of a day
// is missing.
const maxAge = 10

// scale converts a rate to an integer.
const scale = 10_000_000_000

// rate is the rate of one day.
type rate struct {
	day   int64 // see journal.DayOf
	value money.UnitPrice
}

// Table has the rates of all currencies for a base currency. It is safe for concurrent reads.
type Table struct {
	base   string
	isOnly bool             // without conversion
	units  map[string]int32 // decimals by currency
	rates  map[string][]rate
}

// SingleCurrency returns a table that converts amounts of one currency to themselves.
func SingleCurrency(currency string) Table { return Table{base: currency, isOnly: true} }

// HasRates reports whether the table converts between currencies.
func (t Table) HasRates() bool { return t.base != "" && !t.isOnly }

// Base returns the base currency, or "" if none is configured.
func (t Table) Base() string { return t.base }

// Has reports whether amounts of a currency can be converted.
func (t Table) Has(currency string) bool { return currency == t.base || len(t.rates[currency]) > 0 }

// ConversionAt returns the conversion from a currency to the base at the given time. It uses the
// latest rate of that day or the ten days before. If these days lack a rate, it uses the latest
// earlier rate, or else the earliest later rate, and sets isMissing. For a currency without any
// rate, it returns a conversion to 0 and sets isMissing.
func (t Table) ConversionAt(currency string, at time.Time) (c Conversion, isMissing bool) {
	if currency == t.base {
		return Conversion{identical: true}, false
	}
	list := t.rates[currency]
	if len(list) == 0 {
		return Conversion{}, true
	}
	day := journal.DayOf(at)
	i, _ := slices.BinarySearchFunc(list, day+1, func(r rate, day int64) int { return int(r.day - day) })
	i = max(0, i-1)
	c = newConversion(list[i].value, t.units[currency], t.units[t.base])
	return c, list[i].day > day || list[i].day < day-maxAge
}

// Conversion converts amounts of one currency at one rate. The zero value converts every amount to 0.
type Conversion struct {
	rate      money.UnitPrice // 0 for the base itself
	identical bool
	// The base amount is amount × times ÷ per. small holds per if it fits, otherwise 0.
	times uint64
	per   *big.Int
	small uint64
}

// Rate returns the units of the currency for one unit of the base.
func (c Conversion) Rate() money.UnitPrice {
	if c.identical {
		one, _ := money.ParseUnitPrice("1")
		return one
	}
	return c.rate
}

// factor returns times ÷ per as a decimal.
func (c Conversion) factor() string {
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(c.times), c.per).FloatString(30)
}

// newConversion returns the conversion at a rate between currencies with these numbers of decimals.
func newConversion(value money.UnitPrice, from, to int32) Conversion {
	per, _ := new(big.Int).SetString(formatScaled(value), 10)
	c := Conversion{rate: value, times: scale, per: per}
	for range to {
		c.times *= 10
	}
	for range from {
		c.per.Mul(c.per, big.NewInt(10))
	}
	if c.per.IsUint64() && c.per.Uint64() < 1<<63 {
		c.small = c.per.Uint64()
	}
	return c
}

// formatScaled returns rate × scale as decimal digits.
func formatScaled(value money.UnitPrice) string {
	r, _ := new(big.Rat).SetString(value.String())
	r.Mul(r, big.NewRat(scale, 1))
	return new(big.Int).Quo(r.Num(), r.Denom()).String()
}

// Convert returns a non-negative amount in the base, in minor units, rounded half up.
func (c Conversion) Convert(amount int64) int64 {
	switch {
	case c.identical || amount <= 0:
		return max(amount, 0)
	case c.per == nil:
		return 0
	}
	hi, lo := bits.Mul64(uint64(amount), c.times)
	if c.small > hi {
		quotient, rest := bits.Div64(hi, lo, c.small)
		if rest >= c.small-rest {
			quotient++
		}
		return int64(min(quotient, maxAmount))
	}
	exact := new(big.Int).Mul(big.NewInt(amount), new(big.Int).SetUint64(c.times))
	exact.Lsh(exact, 1).Add(exact, c.per)
	exact.Quo(exact, new(big.Int).Lsh(c.per, 1))
	if !exact.IsInt64() || exact.Int64() > maxAmount {
		return maxAmount
	}
	return exact.Int64()
}

// maxAmount caps a converted amount so that sums do not overflow.
const maxAmount = 1_000_000_000_000_000
