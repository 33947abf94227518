// Package stripe is the sandbox's payment provider. It implements the wire format of
// api.stripe.com and stores its state, so the official client works with it unchanged. tenantry dev
// and the tests use it; tenantry serve never does. It does not depend on the service. The rules
// list the supported features, the guarantees and the differences from Stripe (rules:
// sandbox#payment-provider).
//
// This package contains the configuration and the table of endpoints, and it connects the packages
// below it. Each of them imports only packages above it in this list:
//
// form           parameters, errors, amounts, ids, parts of the wire format
// billing        periods and prorations
// kernel         state, transactions, events, timers, webhooks, request handling
// pages          layout of web pages
// chaos          fault injection and event replays
// customers      customers, cards and bank accounts
// payments       payment intents, charges, refunds
// meters         reported usage and its meters
// catalog        products and prices
// invoices       lifecycle of invoices
// subscriptions  recurring purchases and their invoices
// hosted         invoice page
// checkout       sessions of the hosted checkout, with their page
// portal         sessions of the billing portal, with their page
// dashboard      pages that show the state
//
// Package stripetest contains the test helpers of these packages.
//
// If a lower package depends on a higher package, this package passes it a function: the actions of
// timers, the readers of expandable lists, the functions that end a customer's objects, and the
// function that is called with the outcome of a debit.
//
// # Request handling
//
// kernel.Engine.Serve checks the key, reads the parameters and fires due timers. It then runs the
// endpoint, which is an ordinary function, in a step. A step has a fixed time and, unless the method
// is GET, runs in one transaction. The endpoint reads and stores objects through a kernel.Kind and
// records events with Step.Create, Step.Change and Step.Emit. After the commit, Run delivers the
// events.
//
// # Adding an object
//
// Declare its type with a kernel.Header and its Kind, write its endpoints as functions, and add a
// row for each endpoint to a table of routes. If the object changes later without a request, set a
// timer and add the timer's action to timers.
package stripe
