// Package dashboard shows people what the provider has: customers, subscriptions,
// invoices, events and what comes next, with what a client needs to reach it (rules:
// sandbox#dashboard).
package dashboard
