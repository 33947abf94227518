package money

import (
	"cmp"
	"math/big"
)

// Total is an exact sum of quantities, from 0 to MaxTotal, with the decimals of a quantity. It has
// more digits than an int64 of millionths (rules: money#quantities). Compare totals with ==.
type Total struct {
	Units      int64 // whole units
	Millionths int64 // of a unit, 0 to 999,999
}

// MaxTotal is the largest total: 10^18, which is a thousand petabytes in bytes.
const MaxTotal = 1_000_000_000_000_000_000

// TotalOf returns a quantity, which must not be negative, as a total.
func TotalOf(q Quantity) Total { return Total{int64(q / One), int64(q % One)} }

// NewTotal returns the total of whole units and any number of millionths, capped at MaxTotal.
func NewTotal(units, millionths int64) Total {
	carry := millionths / int64(One)
	if units >= MaxTotal-carry {
		return Total{Units: MaxTotal}
	}
	return Total{units + carry, millionths % int64(One)}
}

// Add returns the sum. If it would exceed MaxTotal, ok is false and the sum is MaxTotal.
func (t Total) Add(o Total) (sum Total, ok bool) {
	sum = Total{t.Units + o.Units, t.Millionths + o.Millionths} // at most twice MaxTotal
	if sum.Millionths >= int64(One) {
		sum.Units, sum.Millionths = sum.Units+1, sum.Millionths-int64(One)
	}
	if sum.Exceeds(MaxTotal) {
		return Total{Units: MaxTotal}, false
	}
	return sum, true
}

// Sub returns t - o. o must not be larger than t.
func (t Total) Sub(o Total) Total {
	t.Units, t.Millionths = t.Units-o.Units, t.Millionths-o.Millionths
	if t.Millionths < 0 {
		t.Units, t.Millionths = t.Units-1, t.Millionths+int64(One)
	}
	return t
}

// Compare compares totals by size.
func (t Total) Compare(o Total) int {
	return cmp.Or(cmp.Compare(t.Units, o.Units), cmp.Compare(t.Millionths, o.Millionths))
}

// Exceeds reports whether the total is larger than a number of whole units.
func (t Total) Exceeds(units int64) bool {
	return t.Units > units || t.Units == units && t.Millionths > 0
}

// Quantity returns the total as a quantity. ok is false on overflow.
func (t Total) Quantity() (q Quantity, ok bool) {
	whole, ok := WholeUnits(t.Units)
	if !ok {
		return 0, false
	}
	return whole.Add(Quantity(t.Millionths))
}

// String returns the shortest JSON number equal to t.
func (t Total) String() string {
	var buf [32]byte
	return string(t.Append(buf[:0]))
}

// MarshalJSON writes t as a number, never as a string.
func (t Total) MarshalJSON() ([]byte, error) { return t.Append(make([]byte, 0, 32)), nil }

// Append appends the shortest JSON number equal to t.
func (t Total) Append(dst []byte) []byte {
	return appendMillionths(dst, uint64(t.Units), uint64(t.Millionths))
}

// Ceil returns t rounded up to whole units.
func (t Total) Ceil() int64 {
	if t.Millionths > 0 {
		return t.Units + 1
	}
	return t.Units
}

// bigMillionths returns the total in millionths.
func (t Total) bigMillionths() *big.Int {
	n := new(big.Int).Mul(big.NewInt(t.Units), big.NewInt(int64(One)))
	return n.Add(n, big.NewInt(t.Millionths))
}
