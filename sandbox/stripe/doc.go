// Package stripe is the sandbox's payment provider. It speaks the wire format of
// api.stripe.com and keeps state, so that the official client talks to it exactly
// as to the real one. tenantry dev and the tests use it; tenantry serve never does.
// It knows nothing of the service. What it supports, what it promises and where it
// differs from Stripe is in the rules (rules: sandbox#payment-provider).
//
// This package has the settings, the table of endpoints and what connects the
// packages below it. Each of them imports only those above it in this list:
//
//	form           parameters, refusals, amounts, ids, pieces of the wire format
//	billing        the arithmetic of periods and prorations
//	kernel         state, transactions, events, timers, webhooks, the way of a request
//	pages          the frame of web pages
//	chaos          misbehaviour on purpose, and replays of events
//	customers      customers, cards and bank accounts
//	payments       payment intents, charges, refunds
//	meters         reported usage and its meters
//	catalog        products and prices
//	invoices       an invoice from its draft to its end
//	subscriptions  subscriptions, and what they put on invoices
//	clocks         test clocks, each with customers of its own
//	hosted         the page of an invoice
//	checkout       sessions for buying, and their page
//	portal         sessions for customers, and their page
//	dashboard      what people see of all of it
//
// Package stripetest is what the tests of these packages have in common.
//
// What a lower package needs from a higher one is a function that this package
// hands over: the actions of timers, the lists that objects show when they are
// expanded, what ends with a customer, and who is told how a debit ended.
//
// # How a request is answered
//
// kernel.Engine.Serve checks the key, reads the parameters and does what has become
// due. It then runs the endpoint, which is an ordinary function, in a step: one
// moment and, unless the method is GET, one transaction. The endpoint reads and
// stores objects through a kernel.Kind and records events with Step.Create,
// Step.Change and Step.Emit. After the commit, Run delivers the events.
//
// # How to add an object
//
// Declare its type with a kernel.Header and its Kind, write its endpoints as
// functions, and add a row each to the table in routes.go. If something happens to
// it later, set a timer and add its action to timers.
package stripe
