// Package currency manages the currencies for prices: it lists the ISO 4217 currencies that can be
// added, and adds, changes and deletes currencies (rules: catalog#currencies). The catalog package
// reads currencies, because every price needs one.
package currency

// AddedCurrencies is the result of adding currencies. Each code is in exactly one of the lists, in
// the order of its first occurrence in the request.
type AddedCurrencies struct {
	Created         []string `json:"created"`
	SkippedExisting []string `json:"skipped_existing"`
	Invalid         []string `json:"invalid"` // as in the request
}
