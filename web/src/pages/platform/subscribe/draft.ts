import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../../app/format'
import type { Schema } from '../../../api/client'
import { minorUnits, type Digits } from '../plan/draft'
import type { NewSubscription } from '../tenant/subscriptions'
import { mostSeats, priceOf, type Sold } from '../tenant/plans'

/** A new subscription as edited. Numbers are the texts of their fields. */
export interface Draft {
  plan: string
  currency: string
  seats: string
  custom: boolean
  price: string
  trial: boolean
  days: string
  collection: 'card' | 'invoice'
  due: string
  order: string
  /** The promotion code that was applied. */
  code: string
}

/** Returns an integer in a range, otherwise undefined. */
function whole(text: string, min: number, max: number): number | undefined {
  const value = Number(text.trim())
  return /^\d{1,7}$/.test(text.trim()) && value >= min && value <= max ? value : undefined
}

/** Returns the request of a draft, with the fields that are wrong by their name in it. */
export function requestOf(draft: Draft, plan: Sold, members: number, digits: Digits): { body: NewSubscription; mistakes: Record<string, string> } {
  const mistakes: Record<string, string> = {}
  const perSeat = plan.pricing_type === 'seat'
  const most = mostSeats(plan)
  const quantity = perSeat ? whole(draft.seats, 1, 999_999) : undefined
  if (perSeat && quantity === undefined) mistakes.quantity = t`Enter a number of seats.`
  if (quantity !== undefined && most !== undefined && quantity > most) mistakes.quantity = plural(most, { one: 'At most # seat.', other: 'At most # seats.' })
  if (quantity !== undefined && quantity < members) mistakes.quantity = plural(members, { one: 'There is # member.', other: 'There are # members.' })
  const price_cents = draft.custom ? minorUnits(draft.price, digits(draft.currency)) : undefined
  if (draft.custom && price_cents === undefined) mistakes.price_cents = t`Enter an amount.`
  if (!draft.custom && priceOf(plan, draft.currency) === undefined) mistakes.currency = t`The plan is not sold in this currency. Enter a custom price.`
  const trial_days = draft.trial ? whole(draft.days, 1, 730) : undefined
  if (draft.trial && trial_days === undefined) mistakes.trial_days = t`Enter 1 to 730 days.`
  const byInvoice = draft.collection === 'invoice'
  const days_until_due = byInvoice ? whole(draft.due, 0, 180) : undefined
  if (byInvoice && days_until_due === undefined) mistakes.days_until_due = t`Enter 0 to 180 days.`
  return {
    mistakes,
    body: {
      plan_id: plan.id, currency: draft.currency, quantity, price_cents, collection: draft.collection, days_until_due, trial_days: trial_days ?? 0,
      purchase_order: draft.order.trim() || null, promotion_code: draft.code || undefined,
    },
  }
}

/** Returns the date after a number of intervals of a plan. */
export function after(from: Date, { interval_unit: unit, interval_count: count }: Pick<Sold, 'interval_unit' | 'interval_count'>): Date {
  const to = new Date(from)
  if (unit === 'day') to.setDate(to.getDate() + count)
  if (unit === 'week') to.setDate(to.getDate() + 7 * count)
  if (unit === 'month' || unit === 'year') {
    const months = unit === 'year' ? 12 * count : count
    const day = to.getDate()
    to.setDate(1)
    to.setMonth(to.getMonth() + months)
    to.setDate(Math.min(day, new Date(to.getFullYear(), to.getMonth() + 1, 0).getDate()))
  }
  return to
}

/** Returns the words for a price of a plan: €6.00 a seat a month. */
export function ratio(price: number, list: number, format: Formats): string {
  const share = (list - price) / list
  const part = format.percent(Math.abs(share))
  return share > 0 ? t`${part} below the list price.` : share < 0 ? t`${part} above the list price.` : t`The same as the list price.`
}

export type Preview = Schema<'PurchasePreview'>
