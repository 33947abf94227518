// Package charge converts amounts of money between the minor units that the service
// counts in and those of the payment provider, and knows which amounts the provider can
// charge (rules: money#providers-and-decimals).
package charge

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrUnsupported refuses an amount that the provider cannot charge in its currency. Its key
// possible_amounts has the nearest ones that it can.
var ErrUnsupported = fault.NewCoded(fault.Invalid, fault.PSPAmountUnsupported)

// ErrMinorUnits refuses a currency that has too few decimals here: the provider would
// charge amounts that cannot be written here. Its code is ErrUnsupported's.
var ErrMinorUnits = &fault.Error{
	Kind: fault.Invalid, Code: fault.PSPAmountUnsupported, Message: "error.psp_minor_units",
}

// ErrCurrency refuses a currency that the provider does not support. Its code is
// ErrUnsupported's.
var ErrCurrency = &fault.Error{
	Kind: fault.Invalid, Code: fault.PSPAmountUnsupported, Message: "error.psp_currency_unsupported",
}

// supported are the currencies that the provider charges in
// (https://docs.stripe.com/currencies#presentment-currencies, and its currencies with three
// decimals). An account may support fewer of them, which depends on its country.
const supported = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD " +
	"CAD CDF CHF CLP CNY COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD " +
	"HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL " +
	"MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG " +
	"QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TND TOP TRY TTD TWD TZS " +
	"UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW"

// Supports reports whether the provider charges in a currency (ISO 4217, upper case).
func Supports(currency string) bool { return isOneOf(currency, supported) }

// The provider has rules of its own, which are not those of ISO 4217
// (https://docs.stripe.com/currencies: zero-decimal, three-decimal, special cases).
const (
	zeroDecimal  = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"
	threeDecimal = "BHD JOD KWD OMR TND" // the last digit must be 0
	// Counted in hundredths for historical reasons, though there are no such coins.
	wholeOnly = "ISK UGX"
)

// The highest amount of one charge, in the provider's minor units: eight digits, but
// twelve where the smallest coin is worth next to nothing.
const (
	maxAmount       = 99_999_999
	maxAmountRupiah = 999_999_999_999
)

// minimums are the lowest amounts of one charge, in the provider's minor units
// (https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). A currency
// that is not listed is converted first, so that its minimum follows the rate.
var minimums = map[string]int64{
	"AED": 200, "AUD": 50, "BGN": 100, "BRL": 50, "CAD": 50, "CHF": 50, "CZK": 1500, "DKK": 250, "EUR": 50, "GBP": 30,
	"HKD": 400, "HUF": 17500, "INR": 50, "JPY": 50, "MXN": 1000, "MYR": 200, "NOK": 300, "NZD": 50, "PLN": 200,
	"RON": 200, "SEK": 300, "SGD": 50, "THB": 1000, "USD": 50,
}

// Decimals returns how many decimals the amounts of a currency (ISO 4217, upper case)
// have here; known is false for a currency that does not exist here.
type Decimals func(ctx context.Context, currency string) (decimals int, known bool, err error)

// lookupError is what a Decimals returned. A call to the provider that ends with it is none
// that the provider failed, and asking again would not help.
type lookupError struct{ cause error }

// Error implements error.
func (e *lookupError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *lookupError) Unwrap() error { return e.cause }

// LookupError returns an error of a Decimals in the form that IsLookup tells.
func LookupError(err error) error { return &lookupError{err} }

// IsLookup reports whether err comes from a Decimals, and so from this service.
func IsLookup(err error) bool {
	_, is := errors.AsType[*lookupError](err)
	return is
}

// Units converts amounts of one currency between our minor units and the provider's.
// All amounts that package psp takes and returns are in ours.
//
// Invariant: what the provider can charge is a whole number of our minor units, so that
// nothing is lost on the way back. UnitsOf refuses a currency where that is not so.
type Units struct {
	currency string
	// ours × factor / divisor is the provider's amount; one of both is 1.
	factor, divisor int64
	// step is the smallest amount in ours that can be charged; max is the largest.
	step, max int64
}

// UnitsOf returns the units of a currency whose amounts have a number of decimals here,
// or ErrMinorUnits.
func UnitsOf(currency string, decimals int) (Units, error) {
	currency = strings.ToUpper(currency)
	theirs, step, most := rulesOf(currency)
	u := Units{currency: currency, factor: powerOf10(theirs - decimals), divisor: powerOf10(decimals - theirs)}
	if step%u.factor != 0 {
		return u, ErrMinorUnits.Wrap(fmt.Errorf("%s has %d decimals here and %d at the provider", currency, decimals, theirs))
	}
	u.step = step / u.factor * u.divisor
	u.max = most / step * u.step
	return u, nil
}

// ProviderUnits returns the units of a currency that is counted here as it is there.
func ProviderUnits(currency string) Units {
	theirs, _, _ := rulesOf(strings.ToUpper(currency))
	u, _ := UnitsOf(currency, theirs) // equal decimals always fit
	return u
}

// rulesOf returns how many decimals the provider's amounts of a currency have, and the
// smallest and the largest amount there.
func rulesOf(currency string) (decimals int, step, most int64) {
	switch {
	case isOneOf(currency, zeroDecimal):
		return 0, 1, maxAmount
	case isOneOf(currency, threeDecimal):
		return 3, 10, maxAmount
	case isOneOf(currency, wholeOnly):
		return 2, 100, maxAmount
	case currency == "IDR":
		return 2, 1, maxAmountRupiah
	default:
		return 2, 1, maxAmount
	}
}

// powerOf10 returns 10 to the power of n, 1 for a negative n.
func powerOf10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// ToProvider returns an amount in the provider's minor units, or ErrUnsupported where it
// cannot be charged.
func (u Units) ToProvider(amount int64) (int64, error) {
	if err := u.Check(amount); err != nil {
		return 0, err
	}
	return amount * u.factor / u.divisor, nil
}

// Check returns ErrUnsupported for an amount that cannot be charged: a negative one, one with
// smaller parts than the provider takes, and one above its maximum.
func (u Units) Check(amount int64) error {
	possible := u.NearestChargeable(amount)
	if len(possible) == 0 {
		return nil
	}
	return ErrUnsupported.With("possible_amounts", possible).
		Wrap(fmt.Errorf("%d %s is not a multiple of %d up to %d", amount, u.currency, u.step, u.max))
}

// NearestChargeable returns the amounts nearest to one that cannot be charged, in ascending
// order; none for one that can. It never proposes 0, which is no price but free.
func (u Units) NearestChargeable(amount int64) []int64 {
	below := amount - amount%u.step
	switch {
	case amount < 0:
		return []int64{u.step}
	case amount > u.max:
		return []int64{u.max}
	case below == amount:
		return nil
	case below == 0:
		return []int64{u.step}
	default:
		return []int64{below, below + u.step} // u.max is a multiple of the step
	}
}

// Step returns the smallest amount that can be charged; every amount is a multiple of it.
func (u Units) Step() int64 { return u.step }

// Maximum returns the largest amount that can be charged at once.
func (u Units) Maximum() int64 { return u.max }

// Minimum returns the lowest amount above 0 that can be charged at once, 0 where it is
// not known.
func (u Units) Minimum() int64 { return u.FromProvider(minimums[u.currency]) }

// FromProvider returns an amount of the provider in our minor units. One that could not
// be charged may fall between two of ours: it is rounded, half away from zero.
func (u Units) FromProvider(amount int64) int64 {
	half := u.factor / 2
	if amount < 0 {
		half = -half
	}
	return (amount*u.divisor + half) / u.factor
}

// FromProviderExact is FromProvider for an amount that must not be rounded; nil where it would be.
func (u Units) FromProviderExact(amount *int64) *int64 {
	if amount == nil || *amount%u.factor != 0 {
		return nil
	}
	ours := u.FromProvider(*amount)
	return &ours
}

// Decimal returns a unit price of the provider, decimal text in its minor units, in
// ours.
func (u Units) Decimal(text string) string {
	if u.factor == u.divisor {
		return text
	}
	price, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	price.Mul(price, big.NewRat(u.divisor, u.factor))
	return strings.TrimSuffix(strings.TrimRight(price.FloatString(15), "0"), ".")
}

func isOneOf(currency, list string) bool {
	return len(currency) == 3 && !strings.Contains(currency, " ") && strings.Contains(list, currency)
}
