// Package payments implements payment intents, charges and refunds. An intent is an amount to pay,
// and a charge is one attempt to pay it.
package payments
