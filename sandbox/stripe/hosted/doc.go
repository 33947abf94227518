// Package hosted has the page of an invoice, on which a person pays it or
// confirms its payment (rules: sandbox#invoices).
package hosted
