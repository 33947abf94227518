import { t } from '@lingui/core/macro'
import type { Formats } from '../../../app/format'
import { minorUnits, type Digits, type Draft } from './draft'

/**
 * A price change in minor units. before is undefined for a new currency, after for a removed one.
 */
export interface PriceChange {
  currency: string
  before?: number
  after?: number
}

export function priceChanges(draft: Draft, before: Draft, digits: Digits): PriceChange[] {
  const amount = (of: Draft, currency: string) => {
    const found = of.prices.find((one) => one.currency === currency)
    return found && minorUnits(found.amount, digits(currency))
  }
  // An unfinished amount that cannot be parsed does not count as a change.
  const readable = (currency: string) => !draft.prices.some((one) => one.currency === currency) || amount(draft, currency) !== undefined
  const currencies = new Set([...before.prices, ...draft.prices].map((one) => one.currency).filter(readable))
  return [...currencies].map((currency) => ({ currency, before: amount(before, currency), after: amount(draft, currency) })).filter((one) => one.before !== one.after)
}

/** Returns what saving would change, in words. */
export function summary(draft: Draft, before: Draft, digits: Digits, format: Formats): string[] {
  const differs = (...keys: (keyof Draft)[]) => keys.some((key) => JSON.stringify(draft[key]) !== JSON.stringify(before[key]))
  const prices = priceChanges(draft, before, digits).map(({ currency, before: old, after }) => {
    const [from, to] = [old !== undefined && format.money(old, currency), after !== undefined && format.money(after, currency)]
    if (from && to) return t`${from} changes to ${to}`
    return to ? t`${to} is new` : t`${from || currency} is removed`
  })
  const unreadable = draft.prices.filter((one) => minorUnits(one.amount, digits(one.currency)) === undefined).map((one) => t`the price in ${one.currency}`)
  return [
    ...prices,
    ...unreadable,
    ...(differs('entitlements') ? [t`features`] : []),
    ...(differs('texts') ? [t`name and description`] : []),
    ...(differs('interval_unit', 'interval_count') ? [t`billing interval`] : []),
    ...(differs('trial_days', 'trial_requires_card') ? [t`the trial`] : []),
    ...(differs('is_default') ? [draft.is_default ? t`it becomes the default plan` : t`it is no longer the default plan`] : []),
    ...(differs('is_active') ? [draft.is_active ? t`it goes on sale` : t`it goes off sale`] : []),
    ...(differs('slug', 'product_id', 'pricing_type', 'sort_order') ? [t`its settings`] : []),
  ]
}
