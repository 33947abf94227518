// Package subscriptions has subscriptions and all that happens to them: their
// beginning, renewals, trials, changes, retries of failed payments and their end,
// and what each of that puts on an invoice (rules: sandbox#subscriptions).
package subscriptions
