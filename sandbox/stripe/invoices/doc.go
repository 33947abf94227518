// Package invoices implements the lifecycle of invoices: draft, finalized, paid, voided or written
// off. Package subscriptions decides which lines an invoice has.
package invoices
