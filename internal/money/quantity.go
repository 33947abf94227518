package money

import (
	"errors"
	"math"
	"strconv"
)

// Quantity is an exact amount of usage in millionths. It fits into a bigint and can be added
// without rounding (rules: money#quantities). Compare quantities with < and ==.
type Quantity int64

const (
	// One is the quantity 1.
	One Quantity = 1_000_000

	// Max is the largest quantity in a request, 10^12. Sums can be larger, up to the range of an
	// int64 of millionths.
	Max Quantity = 1_000_000_000_000 * One

	// Decimals is the number of decimals of a quantity.
	Decimals = 6
)

// Errors of parsing a quantity or a unit price.
var (
	ErrNotNumber  = errors.New("money: not a JSON number")
	ErrTooPrecise = errors.New("money: too many decimals")
	ErrTooLarge   = errors.New("money: larger than 10^12")
)

// WholeUnits returns the quantity of n whole units. ok is false on overflow, which is beyond nine
// times Max.
func WholeUnits(n int64) (q Quantity, ok bool) {
	if n > math.MaxInt64/int64(One) || n < math.MinInt64/int64(One) {
		return 0, false
	}
	return Quantity(n) * One, true
}

// Add returns the sum. On overflow, ok is false and the sum is q.
func (q Quantity) Add(other Quantity) (sum Quantity, ok bool) {
	sum = q + other
	if (other > 0 && sum < q) || (other < 0 && sum > q) {
		return q, false
	}
	return sum, true
}

// String returns the shortest JSON number equal to q, such as 2.5, 100 or -0.000001.
func (q Quantity) String() string {
	var buf [24]byte
	return string(q.Append(buf[:0]))
}

// MarshalJSON writes q as a number, never as a string.
func (q Quantity) MarshalJSON() ([]byte, error) {
	return q.Append(make([]byte, 0, 24)), nil
}

// UnmarshalJSON parses a number as ParseQuantity does. null leaves q unchanged, as usual in
// encoding/json.
func (q *Quantity) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	v, err := parse(data)
	if err != nil {
		return err
	}
	*q = v
	return nil
}

// MarshalText writes q as MarshalJSON does.
func (q Quantity) MarshalText() ([]byte, error) { return q.MarshalJSON() }

// UnmarshalText parses a number as ParseQuantity does.
func (q *Quantity) UnmarshalText(text []byte) error {
	v, err := parse(text)
	if err != nil {
		return err
	}
	*q = v
	return nil
}

// Append appends the shortest JSON number equal to q.
func (q Quantity) Append(dst []byte) []byte {
	// The smallest int64 has no positive counterpart.
	magnitude := uint64(q)
	if q < 0 {
		dst = append(dst, '-')
		magnitude = -magnitude
	}
	return appendMillionths(dst, magnitude/uint64(One), magnitude%uint64(One))
}

// appendMillionths appends whole units and millionths, without trailing zeros.
func appendMillionths(dst []byte, units, fraction uint64) []byte {
	dst = strconv.AppendUint(dst, units, 10)
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(One) / 10; fraction > 0; unit /= 10 {
		dst = append(dst, byte('0'+fraction/unit))
		fraction %= unit
	}
	return dst
}

// Ceil returns q rounded up to whole units.
func (q Quantity) Ceil() int64 {
	whole := int64(q / One)
	if q%One > 0 {
		whole++
	}
	return whole
}
