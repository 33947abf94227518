// Package stripe is the sandbox's payment provider: a stand-in for
// api.stripe.com that speaks Stripe's own wire format and keeps state, so that
// the official client talks to it exactly as to the real one. It is what
// `tenantry dev` and the tests run against; `tenantry serve` never has it.
//
// It knows nothing of the service. Its state is in its own SQLite database, in
// tables that begin with stripe_, and survives a restart.
//
// # What is supported
//
// Requests and answers are those of API version 2026-03-25.dahlia, which
// stripe-go v85 pins: periods on subscription items, an invoice's subscription
// under parent.subscription_details, its payments as a list of their own.
//
//	| Object            | Operations                                             |
//	|-------------------|--------------------------------------------------------|
//	| Account           | retrieve                                               |
//	| Customer          | create, retrieve, update, delete, list                 |
//	| Product           | create, retrieve, update, list                         |
//	| Price             | create, retrieve, update, list; per unit, licensed     |
//	| Checkout session  | create (mode subscription), retrieve, expire, list,    |
//	|                   | line_items; the hosted page                            |
//	| Subscription      | retrieve, list; cancel at once or with the period;     |
//	|                   | update of metadata, description, quantities            |
//	| Invoice           | retrieve, list, lines, PDF; the first one of a         |
//	|                   | subscription                                           |
//	| Invoice payment   | retrieve, list                                         |
//	| Payment intent    | retrieve                                               |
//	| Charge            | retrieve                                               |
//	| Payment method    | retrieve                                               |
//	| Refund            | create, retrieve, list; whole or in part               |
//	| Event             | retrieve, list; webhooks                               |
//
// Everywhere: the secret key as bearer or basic credentials, nested forms,
// metadata that merges, pages of lists, the created filter, expand up to four
// levels deep, Idempotency-Key, Stripe's errors. Lists that objects show only
// on request: customer.subscriptions, checkout.session.line_items,
// invoice.payments, charge.refunds.
//
// What is not supported is refused, never passed over: a parameter that is not
// known here answers parameter_unknown, a value that is known but without
// effect here answers an invalid_request_error that says so, and any other URL
// answers 404.
//
// # Where it differs from Stripe
//
// The life of a subscription after its start is not played: it neither renews
// nor ends by itself, a trial stays a trial, and nothing is prorated.
// Quantities change with proration_behavior none only, and prorate is refused
// on cancellation. A checkout session needs a customer, sells only recurring
// prices of one interval, and takes cards only. There are no taxes, discounts,
// balances, minimum charges, connected accounts or rate limits. A declined card
// leaves no trace. hosted_invoice_url is null; invoice_pdf works.
//
// # The hosted page
//
// GET /sandbox/checkout/{id} shows what is bought as plain HTML without
// scripts; the form has the id pay and the field card_number, the way back the
// id cancel. These numbers are known, with or without spaces and hyphens:
//
//	| Number              | At checkout | At renewal |
//	|---------------------|-------------|------------|
//	| 4242 4242 4242 4242 | pays        | pays       |
//	| 4000 0000 0000 0002 | declined    |            |
//	| 4000 0000 0000 0341 | pays        | fails      |
//
// POST answers 303 to the success URL once the session is paid, however often
// it is sent; 402 for a declined card, 422 for a number that is none of these,
// 410 for a session that has expired, 404 for one that never was.
//
// # Time
//
// Objects are dated by the injected clock and what is due happens by it; before
// any request is answered, everything that has become due is done first, each
// at its own moment. Signatures, retries of webhooks and the life of
// idempotency keys go by the real clock.
//
// # Webhooks
//
// Each change stores its events, and their deliveries, in its own transaction.
// Run posts them, signed like Stripe's, and tries again after 0.2 s, 1 s, 5 s,
// 30 s, 2 min, 10 min, 1 h and then every 3 h until three days have passed.
// An event may arrive twice. Events about one object arrive in order unless one
// of them fails; across objects there is no order.
//
// # Chaos
//
// PUT /sandbox/stripe/chaos makes the provider misbehave until it is told
// otherwise: a share of the webhooks is lost, doubled, late or out of order, a
// share of the calls to the API fails or is never answered, before or after it
// took effect. A seed decides which are hit, counted since the settings were
// made or the server was started; of calls at the same time it is the order of
// their arrival that counts. The hosted pages are never hit. The page
// /sandbox/chaos has the same as a form and explains each setting.
//
// POST /sandbox/stripe/replay sends all stored events again, any number of
// times and shuffled if so wished; GET tells how many are still under way.
package stripe
