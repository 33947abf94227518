package money

import "math/big"

// Percent tells how much of limit current is, in percent, rounded half up to two
// decimals; computed on integers and only for display. Of a limit of zero (or
// less) nothing is 0 percent and anything is 100.
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
