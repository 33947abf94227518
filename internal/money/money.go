// Package money has the service's exact numbers: amounts of money in minor units,
// quantities of usage in millionths, and prices of one unit of usage
// (rules: money#amounts). No rule computes with floats; only a percentage for display is one.
package money

// Money is an amount in the minor units of its currency: cents for EUR, whole yen for
// JPY.
type Money struct {
	AmountCents int64  `json:"amount_cents"`
	Currency    string `json:"currency"` // ISO 4217, upper case
}
