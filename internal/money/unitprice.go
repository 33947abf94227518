package money

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// UnitPrice is the price of one unit of usage: an exact decimal of minor units of a currency, from
// 0 to MaxUnitPrice, with at most twelve decimals (rules: money#unit-prices). The zero value is
// free of charge. Compare unit prices with ==.
type UnitPrice struct {
	cents       int64
	trillionths int64 // of a minor unit, 0 to 10^12 - 1
}

const (
	// UnitPriceDecimals is the number of decimals of a unit price.
	UnitPriceDecimals = 12
	// MaxUnitPrice is the largest unit price in minor units.
	MaxUnitPrice = 1_000_000_000_000

	trillion = 1_000_000_000_000
)

// ErrNegative means that a number is negative where this is not allowed.
var ErrNegative = errors.New("money: negative")

// number matches a JSON number (RFC 8259, section 6): sign, digits, decimals, exponent.
var number = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

// ParseUnitPrice parses a JSON number exactly, such as 25, 0.0025 or 1e-12. Zeros beyond the
// twelfth decimal are accepted.
//
// Errors: ErrNotNumber, ErrNegative, ErrTooLarge, ErrTooPrecise.
func ParseUnitPrice(text string) (UnitPrice, error) {
	parts := number.FindStringSubmatch(text)
	if parts == nil {
		return UnitPrice{}, ErrNotNumber
	}
	sign, digits, decimals, exponent := parts[1], parts[2]+parts[3], len(parts[3]), parts[4]
	digits = strings.TrimLeft(digits, "0")
	significant := strings.TrimRight(digits, "0")
	switch {
	case significant == "":
		return UnitPrice{}, nil
	case sign != "":
		return UnitPrice{}, ErrNegative
	}
	power, err := strconv.Atoi(exponent)
	if err != nil && exponent != "" { // too large to be offset by any number of digits
		if strings.HasPrefix(exponent, "-") {
			return UnitPrice{}, ErrTooPrecise
		}
		return UnitPrice{}, ErrTooLarge
	}
	// The price is significant × 10^shift. The bounds prevent an overflow of the sum if the
	// exponent is near the largest int.
	const far = math.MaxInt32
	shift := min(max(power, -far), far) - decimals + len(digits) - len(significant)
	switch {
	case len(significant)+shift > len("1000000000000"):
		return UnitPrice{}, ErrTooLarge
	case shift < -UnitPriceDecimals:
		return UnitPrice{}, ErrTooPrecise
	}
	// The number of trillionths has at most 25 digits.
	all := significant + strings.Repeat("0", shift+UnitPriceDecimals)
	all = strings.Repeat("0", max(0, UnitPriceDecimals+1-len(all))) + all
	var p UnitPrice
	split := len(all) - UnitPriceDecimals
	if p.cents, err = strconv.ParseInt(all[:split], 10, 64); err != nil {
		return UnitPrice{}, ErrTooLarge
	}
	if p.trillionths, err = strconv.ParseInt(all[split:], 10, 64); err != nil {
		return UnitPrice{}, ErrNotNumber
	}
	if p.cents > MaxUnitPrice || p.cents == MaxUnitPrice && p.trillionths > 0 {
		return UnitPrice{}, ErrTooLarge
	}
	return p, nil
}

// String returns the shortest JSON number equal to p, such as 25 or 0.0025. The text is unique and
// is the database value.
func (p UnitPrice) String() string {
	whole := strconv.FormatInt(p.cents, 10)
	if p.trillionths == 0 {
		return whole
	}
	return whole + "." + strings.TrimRight(fmt.Sprintf("%012d", p.trillionths), "0")
}

// Amount returns the price of a total in minor units, rounded half up to a multiple of step. Call
// it once per invoice line, never per event. It caps the result to the range of an int64.
func (p UnitPrice) Amount(t Total, step int64) int64 {
	exact := big.NewInt(p.cents)
	exact.Mul(exact, big.NewInt(trillion))
	exact.Add(exact, big.NewInt(p.trillionths))
	exact.Mul(exact, t.bigMillionths())

	// exact is in units of 1 ÷ (10^12 × 10^6). The number of steps is floor(exact ÷ one + ½), where
	// one is a step.
	one := new(big.Int).Mul(big.NewInt(trillion), big.NewInt(int64(One)))
	one.Mul(one, big.NewInt(step))
	exact.Lsh(exact, 1).Add(exact, one)
	rounded := exact.Div(exact, one.Lsh(one, 1))
	rounded.Mul(rounded, big.NewInt(step))
	switch {
	case rounded.IsInt64():
		return rounded.Int64()
	case rounded.Sign() < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// MarshalJSON writes p as a number, never as a string.
func (p UnitPrice) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalJSON parses a number as ParseUnitPrice does. null leaves p unchanged.
func (p *UnitPrice) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	parsed, err := ParseUnitPrice(string(data))
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
