package invoice

import (
	"math/big"
	"math/bits"
	"slices"
)

// mulDivRound returns a × b ÷ c, rounded half up, without intermediate overflow. a and b must not
// be negative, and c must be positive and at least b.
func mulDivRound(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	low, carry := bits.Add64(low, uint64(c)/2, 0)
	quotient, _ := bits.Div64(high+carry, low, uint64(c))
	return int64(quotient)
}

// SplitAmount splits an amount in proportion to parts. The shares are rounded and add up to the
// amount; the rounding remainder goes to the shares that it changes least. If the parts add up to
// zero, the first share is the whole amount.
func SplitAmount(amount int64, parts []int64) []int64 {
	out := make([]int64, len(parts))
	var sum int64
	for _, part := range parts {
		sum += part
	}
	if len(parts) == 0 {
		return out
	}
	if sum == 0 {
		out[0] = amount
		return out
	}
	left, total := amount, big.NewInt(sum)
	rest := make([]*big.Int, len(parts)) // the remainder of rounding down, times the sum
	for i, part := range parts {
		product := new(big.Int).Mul(big.NewInt(amount), big.NewInt(part))
		share, remainder := new(big.Int).DivMod(product, new(big.Int).Abs(total), new(big.Int))
		if sum < 0 {
			share, remainder = new(big.Int).DivMod(new(big.Int).Neg(product), new(big.Int).Abs(total), new(big.Int))
		}
		out[i], rest[i] = share.Int64(), remainder
		left -= out[i]
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return rest[b].Cmp(rest[a]) })
	for _, i := range order[:left] {
		out[i]++
	}
	return out
}
