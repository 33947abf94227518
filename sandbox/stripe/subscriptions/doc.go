// Package subscriptions implements the lifecycle of subscriptions: creation, renewals, trials,
// changes, retries of failed payments and cancellation, with the resulting invoices (rules:
// sandbox#subscriptions).
package subscriptions
