// Package currency manages the currencies that prices can be in: the currencies of
// ISO 4217 that can be added, and adding, changing and deleting them
// (rules: catalog#currencies). Reading a currency is left to the catalog, because every
// price needs one.
package currency

// AddedCurrencies says what happened to each code that was to be added. Each code is in
// exactly one of the lists, in the order in which it was first given.
type AddedCurrencies struct {
	Created         []string `json:"created"`
	SkippedExisting []string `json:"skipped_existing"`
	Invalid         []string `json:"invalid"` // as given
}
