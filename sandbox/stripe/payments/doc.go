// Package payments has payment intents, charges and refunds: one sum that is to be
// paid, each attempt to pay it, and what is given back.
package payments
