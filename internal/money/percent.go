package money

import "math/big"

// Percent returns current as a percentage of limit, rounded half up to two decimals. It
// is computed with integers, and only for display. If limit is zero or less, the
// result is 0 when current is zero or less, else 100.
func Percent(current, limit Quantity) float64 {
	if limit <= 0 {
		if current <= 0 {
			return 0
		}
		return 100
	}
	// floor(10000 × current ÷ limit + ½), over a common denominator.
	numerator := new(big.Int).Mul(big.NewInt(int64(current)), big.NewInt(20_000))
	numerator.Add(numerator, big.NewInt(int64(limit)))
	denominator := new(big.Int).Mul(big.NewInt(int64(limit)), big.NewInt(2))
	hundredths, _ := new(big.Float).SetInt(numerator.Div(numerator, denominator)).Float64()
	return hundredths / 100
}
