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
//	| Price             | create, retrieve, update, list; per unit, licensed or  |
//	|                   | metered                                                |
//	| Checkout session  | create (mode subscription), retrieve, expire, list,    |
//	|                   | line_items; the hosted page                            |
//	| Subscription      | create, retrieve, list; cancel at once or with the     |
//	|                   | period; resume; update of prices, quantities, trial,   |
//	|                   | billing cycle and card                                 |
//	| Invoice           | retrieve, list, lines, PDF, preview; finalize, pay,    |
//	|                   | void, mark_uncollectible                               |
//	| Invoice item      | retrieve, list; those of prorations                    |
//	| Invoice payment   | retrieve, list                                         |
//	| Payment intent    | retrieve                                               |
//	| Charge            | retrieve                                               |
//	| Payment method    | retrieve, list; attach of pm_card_visa,                |
//	|                   | pm_card_visa_chargeDeclined and                        |
//	|                   | pm_card_chargeCustomerFail                             |
//	| Refund            | create, retrieve, list; whole or in part               |
//	| Billing meter     | create, retrieve, update, list, deactivate, reactivate;|
//	|                   | event_summaries                                        |
//	| Meter event       | create                                                 |
//	| Portal session    | create; the hosted page                                |
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
// # Changes of a subscription
//
// A new price of the same interval, or a new quantity, keeps the period. The
// rest of it is credited ("Unused time on …") and charged anew ("Remaining time
// on …") to the second from proration_date on, each rounded once to what can be
// paid in the currency, half of it away from zero. create_prorations keeps both
// for the next invoice, always_invoice bills them at once, with everything else
// that is pending for the subscription. Another interval, a price for what was
// free or the other way round, billing_cycle_anchor=now, and the start or the
// end of a trial begin a new period at once: the rest of the old one is credited
// and the new one billed in full. Changes within a trial cost nothing. An
// invoice below zero becomes credit: customer.balance, which later invoices use
// up first.
//
// A preview goes the same way as the change and the renewal, so that it shows to
// the cent what is then billed.
//
// # Metered usage
//
// A metered price points to a meter, and its items and lines of checkouts have
// no quantity. An event counts at once, for the customer in its payload, in the
// period that its timestamp falls in: from the start of the period, which
// belongs to it, to its end, which does not. It is at most 35 days old and 5
// minutes ahead; its identifier is refused a second time within 24 hours
// (duplicate_meter_event). Values have up to 12 decimals, and one below zero
// corrects earlier ones. A period's usage is billed once it is over, on the
// invoice of the next one: what is reported until that is finalized still
// counts. Usage is rounded once, in the amount of its line; quantity is whole
// and quantity_decimal exact. Usage in a trial costs nothing. A new period that
// begins early, the end of a subscription with its period, and invoice_now bill
// what has been used until then.
//
// # The life of a subscription
//
// It is driven by the injected clock alone. Periods follow each other from the
// billing cycle's anchor, in UTC: a month without the anchor's day ends on its
// last one, and the months after it are not moved by that. At the end of each,
// the next one begins and its invoice is drafted, with everything that is
// pending; an hour later it is finalized and paid from the balance and with the
// default card of the subscription, or else of its customer. Invoices of a
// beginning or a change are finalized and paid at once.
//
// A trial is announced to end three days before, a shorter one at once. Without
// a card at its end trial_settings decides: create_invoice, the default, tries
// and fails; pause waits for /resume, which begins a new period; cancel ends it.
//
// A payment that fails makes the subscription past_due, and is tried again 3
// days later, then 5 and then 7. Any attempt by hand leaves these days as they
// are. What becomes of the subscription after the last one is set by
// PUT /sandbox/stripe/dunning, {"outcome": "canceled"}: canceled, the default,
// unpaid, in which further invoices stay drafts, or past_due. Its open invoices
// stay open. Once its latest one is paid, void or uncollectible, it is active
// again.
//
// A subscription that is made through the API and not paid is incomplete, and
// after 23 hours incomplete_expired. One whose end was asked for is canceled
// with its period, after a last invoice of what is pending and used; one that is
// canceled at once is credited and billed only if prorate and invoice_now say so.
//
// # Where it differs from Stripe
//
// Credits are those of the price and quantity that an item has, even if another
// amount was billed for it. Items are neither added to a subscription nor taken
// from it, and an update that cannot be paid takes effect or is refused, but is
// never pending. Cards and bank accounts are the only payment methods, and each
// one's number says alone whether it pays. A checkout session needs a customer,
// and a subscription has only recurring prices of one interval. An item does not
// change between licensed and metered prices. What Stripe finds wrong with a
// meter event only later, such as an unknown customer, is refused at once. The
// portal has one configuration. Payment collection is not paused.
// Invoices are those of subscriptions only, are not edited or deleted, and there
// is no invoice.upcoming. There are no taxes, discounts, minimum charges,
// connected accounts or rate limits, and no list of what changed a balance. A
// card that is declined at checkout leaves no trace. hosted_invoice_url is null;
// invoice_pdf works.
//
// # The hosted checkout
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
// 410 for a session that has expired, 404 for one that never was. A session
// expires after 24 hours, or at its expires_at.
//
// Sessions in euros that do not say otherwise by payment_method_types also take
// SEPA debits: the form with the id debit has the field iban. Whether a debit
// succeeds is known five days later, by the injected clock:
//
//	| IBAN                        | Five days later |
//	|-----------------------------|-----------------|
//	| DE89 3704 0044 0532 0130 00 | succeeds        |
//	| DE62 3704 0044 0532 0130 01 | fails           |
//
// Until then the session is complete and unpaid, the payment processing and the
// invoice open, while the subscription is already active, as with Stripe: a
// service that waits for the money goes by payment_status. In the end comes
// checkout.session.async_payment_succeeded, and the session is paid; or
// checkout.session.async_payment_failed, and the subscription is past_due like
// after any other payment that fails. Renewals and retries are debited the same
// way. While a debit is under way its invoice can be neither paid otherwise nor
// voided.
//
// # The hosted portal
//
// GET /sandbox/portal/{id} shows, for one hour, what its customer has:
// subscriptions, the card and the invoices with their PDFs; the way back to
// return_url has the id return. Its forms are cancel and resume (at the end of
// the period) and card, with the field card_number: a card that pays becomes the
// default of the customer and of the subscriptions, and open invoices are paid
// with it at once. They are posted to …/cancel, …/resume and …/card below the
// page and answer 303 back to it; 402 and 422 as at checkout, 410 once the link
// has expired, 404 where there is no such session or subscription.
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
