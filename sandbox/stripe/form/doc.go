// Package form reads the parameters of API requests. It also contains the stateless helpers that
// the endpoints share: errors, amounts, ids and parts of Stripe's wire format.
package form
