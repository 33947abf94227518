// Package money provides the service's exact numbers: amounts of money in minor units, usage
// quantities in millionths, and unit prices of usage (rules: money#amounts). Calculations never use
// floats, except percentages for display.
package money

// Money is an amount in the minor units of its currency, such as cents for EUR and whole yen for
// JPY.
type Money struct {
	AmountCents int64  `json:"amount_cents"`
	Currency    string `json:"currency"` // ISO 4217, upper case
}
