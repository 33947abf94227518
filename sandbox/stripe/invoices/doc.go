// Package invoices has invoices from their draft to their end: finalized, paid,
// voided or written off. What is put on one is decided by package subscriptions.
package invoices
