import type { Schema } from '../api/client'

/** A change that waits for the customer's bank (payment), or for the end of the period (scheduled). */
export type Change = Schema<'PendingChange'>

/** When a change of the plan takes effect. */
export type Moment = 'now' | 'period_end'

/** Returns the scheduled change of a subscription with its time. */
export function scheduledOf(subscription: Schema<'Subscription'> | null): (Change & { effective_at: string }) | undefined {
  const change = subscription?.pending_change
  return change?.kind === 'scheduled' && change.effective_at ? { ...change, effective_at: change.effective_at } : undefined
}

/** Returns the number of units and the price of a period after a scheduled change. */
export function costOf(change: Change): { quantity: number; price: number; total: number } {
  const { quantity, price_cents: price } = change
  return { quantity, price, total: quantity * price }
}

type Priced = Pick<Schema<'Subscription'>, 'interval_unit' | 'interval_count'>

const days = { day: 1, week: 7, month: 30.44, year: 365.25 }

/** Returns the price of a day, to compare plans with different intervals. */
const daily = (total: number, { interval_unit, interval_count }: Priced) => total / (days[interval_unit] * interval_count)

/** Reports whether a choice costs less than the subscription. */
export function isCheaper(total: number, plan: Priced, subscription: Schema<'Subscription'>): boolean {
  return daily(total, plan) < daily(subscription.price_cents * subscription.quantity, subscription) - 1e-9
}

/**
 * Reports whether a change to a plan starts a new period: the plan has another interval. A trial
 * keeps its end.
 */
export function startsPeriod(plan: Priced, subscription: Schema<'Subscription'>): boolean {
  return subscription.status !== 'trialing' && (plan.interval_unit !== subscription.interval_unit || plan.interval_count !== subscription.interval_count)
}

/**
 * Returns the moments at which a change can take effect, the suggested one first: the end of the
 * period for a cheaper choice, now for a more expensive one. A change from a free plan needs a card
 * and is made now. A scheduled cancellation and a waiting payment exclude the end of the period.
 */
export function momentsOf(total: number, plan: Priced, subscription: Schema<'Subscription'>): Moment[] {
  const waits = subscription.pending_change && !scheduledOf(subscription)
  const free = subscription.price_cents * subscription.quantity === 0 && subscription.plan.pricing_type !== 'usage'
  if ((free && total > 0) || subscription.cancel_at || subscription.cancel_at_period_end || waits) return ['now']
  return isCheaper(total, plan, subscription) ? ['period_end', 'now'] : ['now', 'period_end']
}
