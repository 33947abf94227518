package vat

import "math/bits"

// IncludedTax returns the tax that is included in total, rounded half away from zero. total is in minor
// units, rate in millionths.
func IncludedTax(total, rate int64) int64 {
	switch {
	case rate <= 0:
		return 0
	case total < 0:
		return -IncludedTax(-total, rate)
	}
	return mulDivRound(total, rate, 1_000_000+rate)
}

// Share returns amount × part ÷ whole, rounded half up. For example, if part is the tax on whole,
// it returns the tax on amount. It returns 0 if amount or part is not positive, or if part exceeds
// whole.
func Share(amount, part, whole int64) int64 {
	if amount <= 0 || part <= 0 || whole < part {
		return 0
	}
	return mulDivRound(amount, part, whole)
}

// mulDivRound returns a × b ÷ c, rounded half up, without intermediate overflow. a and b must not
// be negative, and c must be positive and at least b.
func mulDivRound(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	low, carry := bits.Add64(low, uint64(c)/2, 0)
	quotient, _ := bits.Div64(high+carry, low, uint64(c))
	return int64(quotient)
}
