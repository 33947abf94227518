// Package money has the exact figures of the service: amounts of money in
// minor units, quantities of usage in millionths and prices of a unit of usage.
// None is ever a float in a rule; a float appears only where a percentage is
// shown.
package money

// Money is an amount in the minor units of its currency: cents for EUR, whole
// yen for JPY (spec: Conventions, Money).
type Money struct {
	AmountCents int64  `json:"amount_cents"`
	Currency    string `json:"currency"` // ISO 4217, upper case
}
