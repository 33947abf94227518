package form

import (
	"math/big"
	"strings"
	"time"
)

// Decimals returns the number of decimals that Stripe uses for a currency. Stripe's list differs
// from ISO 4217 for some currencies: it counts HUF, ISK, TWD and UGX, among others, in hundredths.
func Decimals(code string) int {
	switch code {
	case "bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf":
		return 0
	case "bhd", "jod", "kwd", "omr", "tnd":
		return 3
	}
	return 2
}

// supported lists the currencies that the sandbox's account accepts
// (https://docs.stripe.com/currencies#presentment-currencies, and the currencies with three
// decimals).
const supported = "usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd " +
	"cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd " +
	"hkd hnl htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl " +
	"mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg " +
	"qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd std szl thb tjs tnd top try ttd twd tzs " +
	"uah ugx uyu uzs vnd vuv wst xaf xcd xcg xof xpf yer zar zmw"

// ReadCurrency reads a currency code in upper or lower case. It refuses a currency that Stripe does
// not support, with Stripe's message.
func ReadCurrency(p *Params, key string, into *string) {
	value, ok := p.ReadFilled(key)
	if !ok {
		return
	}
	code := strings.ToLower(value)
	if len(code) != 3 || strings.Contains(code, " ") || !strings.Contains(supported, code) {
		p.Fail(key, "", "Invalid currency: %s. Stripe currently supports these currencies: %s", code, strings.ReplaceAll(supported, " ", ", "))
		return
	}
	*into = code
}

// FormatAmount formats an amount in minor units for display, as in 1,234.50 EUR.
func FormatAmount(amount int64, code string) string {
	digits := big.NewInt(amount).String()
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	fraction := ""
	if n := Decimals(code); n > 0 {
		for len(digits) <= n {
			digits = "0" + digits
		}
		digits, fraction = digits[:len(digits)-n], "."+digits[len(digits)-n:]
	}
	grouped := ""
	for len(digits) > 3 {
		digits, grouped = digits[:len(digits)-3], ","+digits[len(digits)-3:]+grouped
	}
	return sign + digits + grouped + fraction + " " + strings.ToUpper(code)
}

// maxDigits is the maximum number of digits before the decimal point. The highest amount of any
// currency has this many digits.
const maxDigits = 12

// ReadDecimal reads an amount in minor units with up to twelve decimals and returns it in its
// shortest form. It reports whether the parameter has a valid amount.
func ReadDecimal(p *Params, key string) (string, bool) {
	value, ok := p.ReadFilled(key)
	if !ok {
		return "", false
	}
	whole, fraction, point := strings.Cut(value, ".")
	if !Digits(whole) || len(whole) > maxDigits || (point && !Digits(fraction)) || len(fraction) > 12 {
		p.Fail(key, "", "Invalid decimal: %s; must be at least 0 and have at most 12 decimal places", value)
		return "", false
	}
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole, true
}

// Digits reports whether s consists of one or more digits.
func Digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Times multiplies a decimal amount by a quantity. It rounds the result once, half up, to whole
// minor units.
func Times(unit string, quantity int64) int64 {
	return TimesExact(unit, big.NewRat(quantity, 1), 1)
}

// TimesExact multiplies a decimal amount by a fractional quantity and rounds the result, half up,
// to a multiple of step minor units. The quantity must not be negative.
func TimesExact(unit string, quantity *big.Rat, step int64) int64 {
	amount, ok := new(big.Rat).SetString(unit)
	if !ok {
		return 0 // unreachable: ReadDecimal validates the amounts of prices
	}
	amount.Mul(amount, quantity).Quo(amount, big.NewRat(step, 1)).Add(amount, big.NewRat(1, 2))
	return new(big.Int).Quo(amount.Num(), amount.Denom()).Int64() * step
}

// FormatDecimal formats an amount like FormatAmount but supports fractions of the minor unit, as in
// 0.0125 EUR.
func FormatDecimal(unit, code string) string {
	whole, finer, _ := strings.Cut(unit, ".")
	amount, ok := new(big.Int).SetString(whole, 10)
	if !ok {
		return unit
	}
	shown, symbol, _ := strings.Cut(FormatAmount(amount.Int64(), code), " ")
	if finer != "" && Decimals(code) == 0 {
		finer = "." + finer
	}
	return shown + finer + " " + symbol
}

// Day formats a time, in seconds since the epoch, as a date in UTC.
func Day(at int64) string { return time.Unix(at, 0).UTC().Format("2 January 2006") }
