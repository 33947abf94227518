package invoice

import "math/bits"

// mulDivRound is a × b ÷ c, rounded half up, without overflow in between. a and b must
// not be negative, and c must be positive and at least b.
func mulDivRound(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	low, carry := bits.Add64(low, uint64(c)/2, 0)
	quotient, _ := bits.Div64(high+carry, low, uint64(c))
	return int64(quotient)
}
