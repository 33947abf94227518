package money

import "math/big"

// Percent returns a total as a percentage of a limit in whole units, for display, rounded half up
// to two decimals. It is computed with integers. If limit is zero or less, it returns 0 for a total
// of 0, and 100 otherwise.
func Percent(current Total, limit int64) float64 {
	if limit <= 0 {
		if current == (Total{}) {
			return 0
		}
		return 100
	}
	// floor(10000 × current ÷ limit + ½), over a common denominator
	most := Total{Units: limit}.bigMillionths()
	numerator := current.bigMillionths()
	numerator.Mul(numerator, big.NewInt(20_000))
	numerator.Add(numerator, most)
	denominator := most.Lsh(most, 1)
	hundredths, _ := new(big.Float).SetInt(numerator.Div(numerator, denominator)).Float64()
	return hundredths / 100
}
