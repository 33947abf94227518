package billing

import "math/big"

// Prorate returns the share of an amount for a part of its period, to the
// second: amount × part / whole, rounded once, half of a step away from zero.
// The amount is in minor units; step is the smallest amount that can be paid in
// the currency, see Step. A part longer than the period counts as the whole
// period, a negative part as nothing.
func Prorate(amount, part, whole, step int64) int64 {
	if part <= 0 || whole <= 0 {
		return 0
	}
	part = min(part, whole)
	if part == whole {
		return amount
	}
	negative := amount < 0
	if negative {
		amount = -amount
	}
	// (2·amount·part + whole·step) / (2·whole·step) steps
	whole *= step
	share := new(big.Int).Mul(big.NewInt(2*part), big.NewInt(amount))
	share.Add(share, big.NewInt(whole)).Quo(share, big.NewInt(2*whole))
	rounded := share.Int64() * step
	if negative {
		return -rounded
	}
	return rounded
}

// ApplyBalance returns what a customer has to pay of a total, in minor units, and the
// balance that is left. A balance below zero is credit, one above zero is debt.
// A total below zero becomes credit.
func ApplyBalance(total, balance int64) (due, left int64) {
	sum := total + balance
	return max(sum, 0), min(sum, 0)
}
