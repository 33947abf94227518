// Package charge converts amounts of money between the minor units of this service and of the
// payment provider, and determines which amounts the provider can charge
// (rules: money#providers-and-decimals).
package charge

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
)

// ErrUnsupported rejects an amount that the provider cannot charge in its currency. Its key
// possible_amounts lists the nearest amounts that it can charge.
var ErrUnsupported = fault.NewCoded(fault.Invalid, fault.PSPAmountUnsupported)

// ErrMinorUnits rejects a currency that has too few decimals in this service: the provider would
// charge amounts that the service cannot represent. It has the same code as ErrUnsupported.
var ErrMinorUnits = &fault.Error{
	Kind: fault.Invalid, Code: fault.PSPAmountUnsupported, Message: "error.psp_minor_units",
}

// ErrCurrency rejects a currency that the provider does not support. It has the same code as
// ErrUnsupported.
var ErrCurrency = &fault.Error{
	Kind: fault.Invalid, Code: fault.PSPAmountUnsupported, Message: "error.psp_currency_unsupported",
}

// supported lists the currencies that the provider charges in
// (https://docs.stripe.com/currencies#presentment-currencies, and its three-decimal currencies).
// Depending on its country, an account may support fewer.
const supported = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD " +
	"CAD CDF CHF CLP CNY COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD " +
	"HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL " +
	"MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG " +
	"QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TND TOP TRY TTD TWD TZS " +
	"UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW"

// Supports reports whether the provider charges in a currency (ISO 4217, upper case).
func Supports(currency string) bool { return isOneOf(currency, supported) }

// The provider's decimals differ from ISO 4217 in some currencies
// (https://docs.stripe.com/currencies: zero-decimal, three-decimal, special cases).
const (
	zeroDecimal  = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"
	threeDecimal = "BHD JOD KWD OMR TND" // the last digit must be 0
	// For historical reasons, the provider counts these currencies in hundredths, although they do
	// not have decimals.
	wholeOnly = "ISK UGX"
)

// The maximum amount of a charge, in the provider's minor units: eight digits, or twelve for the
// rupiah, whose smallest coin is worth almost nothing.
const (
	maxAmount       = 99_999_999
	maxAmountRupiah = 999_999_999_999
)

// minimums are the minimum amounts of a charge, in the provider's minor units
// (https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). Other currencies are
// converted first, so their minimum depends on the exchange rate.
var minimums = map[string]int64{
	"AED": 200, "AUD": 50, "BGN": 100, "BRL": 50, "CAD": 50, "CHF": 50, "CZK": 1500, "DKK": 250, "EUR": 50, "GBP": 30,
	"HKD": 400, "HUF": 17500, "INR": 50, "JPY": 50, "MXN": 1000, "MYR": 200, "NOK": 300, "NZD": 50, "PLN": 200,
	"RON": 200, "SEK": 300, "SGD": 50, "THB": 1000, "USD": 50,
}

// Decimals returns the number of decimals of a currency (ISO 4217, upper case) in this service.
// known is false if the service does not have the currency.
type Decimals func(ctx context.Context, currency string) (decimals int, known bool, err error)

// lookupError is an error returned by a Decimals. A call that fails with it does not count as a
// failure of the provider and is not retried.
type lookupError struct{ cause error }

// Error implements error.
func (e *lookupError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *lookupError) Unwrap() error { return e.cause }

// LookupError wraps an error of a Decimals so that IsLookup recognizes it.
func LookupError(err error) error { return &lookupError{err} }

// IsLookup reports whether err was returned by a Decimals, and so comes from this service.
func IsLookup(err error) bool {
	_, is := errors.AsType[*lookupError](err)
	return is
}

// Units converts amounts of one currency between the minor units of this service and of the
// provider. Package psp takes and returns all amounts in the units of this service.
//
// Invariant: every amount that the provider can charge is a whole number of this service's units,
// so that converting back loses nothing. UnitsOf rejects other currencies.
type Units struct {
	currency string
	// The provider's amount is ours × factor / divisor. One of the two is 1.
	factor, divisor int64
	// step and max are the smallest and the largest chargeable amount, in the units of this
	// service.
	step, max int64
}

// UnitsOf returns the units of a currency that has the given number of decimals in this service, or
// ErrMinorUnits.
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

// ProviderUnits returns the units of a currency that has the same decimals in this service as at
// the provider.
func ProviderUnits(currency string) Units {
	theirs, _, _ := rulesOf(strings.ToUpper(currency))
	u, _ := UnitsOf(currency, theirs) // equal decimals are always valid
	return u
}

// rulesOf returns the number of decimals that a currency has at the provider, and its smallest and
// largest amount there.
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

// powerOf10 returns 10 to the power of n, or 1 if n is negative.
func powerOf10(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// ToProvider converts an amount to the provider's minor units. It returns ErrUnsupported if the
// amount cannot be charged.
func (u Units) ToProvider(amount int64) (int64, error) {
	if err := u.Check(amount); err != nil {
		return 0, err
	}
	return amount * u.factor / u.divisor, nil
}

// Check returns ErrUnsupported if an amount cannot be charged because it is negative, above the
// maximum, or not a multiple of the step.
func (u Units) Check(amount int64) error {
	possible := u.NearestChargeable(amount)
	if len(possible) == 0 {
		return nil
	}
	return ErrUnsupported.With("possible_amounts", possible).
		Wrap(fmt.Errorf("%d %s is not a multiple of %d up to %d", amount, u.currency, u.step, u.max))
}

// NearestChargeable returns the chargeable amounts nearest to an amount that cannot be charged, in
// ascending order. It returns nil if the amount can be charged. It never returns 0, which would
// mean free.
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

// Step returns the smallest chargeable amount. Every chargeable amount is a multiple of it.
func (u Units) Step() int64 { return u.step }

// Maximum returns the largest amount of a single charge.
func (u Units) Maximum() int64 { return u.max }

// Minimum returns the smallest positive amount of a single charge, or 0 if it is unknown.
func (u Units) Minimum() int64 { return u.FromProvider(minimums[u.currency]) }

// FromProvider converts an amount of the provider to the minor units of this service. Amounts that
// could not be charged are rounded, half away from zero.
func (u Units) FromProvider(amount int64) int64 {
	half := u.factor / 2
	if amount < 0 {
		half = -half
	}
	return (amount*u.divisor + half) / u.factor
}

// FromProviderExact is FromProvider for an amount that must not be rounded. It returns nil if
// rounding is necessary.
func (u Units) FromProviderExact(amount *int64) *int64 {
	if amount == nil || *amount%u.factor != 0 {
		return nil
	}
	ours := u.FromProvider(*amount)
	return &ours
}

// Decimal converts a unit price, given as decimal text in the provider's minor units.
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
