// Package creditnotes implements credit notes, which reduce the amount of an invoice after it was
// finalized (https://docs.stripe.com/api/credit_notes).
package creditnotes
