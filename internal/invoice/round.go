package invoice

import (
	"math/big"
	"slices"
)

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
