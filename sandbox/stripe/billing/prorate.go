package billing

import "math/big"

// Prorate returns the share of an amount for a part of its period, to the second: amount × part /
// whole. It rounds once, to a multiple of step, half away from zero. The amount is in minor units;
// step is the smallest payable amount in the currency, see Step. If part is longer than the period,
// Prorate returns the full amount; if part is negative, it returns 0.
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

// ApplyBalance returns the amount that a customer has to pay for a total, in minor units, and the
// new balance. A negative balance is credit, a positive balance is debt. A negative total becomes
// credit.
func ApplyBalance(total, balance int64) (due, left int64) {
	sum := total + balance
	return max(sum, 0), min(sum, 0)
}
