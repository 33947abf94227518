// Package dashboard shows the state of the provider: customers, subscriptions, invoices, events,
// upcoming timers and the connection settings for clients (rules: sandbox#payment-provider).
package dashboard
