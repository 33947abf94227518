// Package hosted implements the invoice page, where a customer pays an invoice or confirms its
// payment (rules: sandbox#invoices).
package hosted
