// Package form reads the parameters of requests to the provider's API and has
// what the endpoints share and what needs no state: refusals, amounts, ids and
// the pieces of Stripe's wire format.
package form
