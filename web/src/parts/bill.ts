import type { Schema } from '../api/client'
import { costOf, scheduledOf } from './scheduled'

/** The next regular invoice of a subscription, and its charged amount. */
export interface Bill {
  /** When it is issued: at the end of the period or of the trial. */
  at: string
  total: number
  /** The part of the price that the discount takes off. */
  discount: number
  /** The part of the total that the credit pays; undefined if the user cannot see the credit. */
  applied?: number
  /** The charged amount; undefined like applied. */
  charged?: number
}

function discountOf(subscription: Schema<'Subscription'>, regular: number): number {
  const { discount } = subscription
  if (!discount || (discount.ends_at && discount.ends_at <= subscription.current_period_end)) return 0
  return Math.min(regular, discount.percent_off !== null ? Math.round((regular * discount.percent_off) / 100) : (discount.amount?.amount_cents ?? 0))
}

/** Returns the price of a period, without usage. */
export function regularPrice(subscription: Schema<'Subscription'>): number {
  return subscription.price_cents * subscription.quantity
}

/** Returns the next regular invoice with the usage so far, after the discount and the credit. */
export function nextBill(subscription: Schema<'Subscription'>, usage: number, credit: Schema<'Money'> | undefined): Bill {
  const change = scheduledOf(subscription)
  const regular = change ? costOf(change).total : regularPrice(subscription)
  const discount = discountOf(subscription, regular)
  const total = regular - discount + usage
  const bill = { at: subscription.current_period_end, total, discount }
  if (!credit) return bill
  // A negative balance is a debt, which the next invoice collects.
  const balance = credit.currency === subscription.currency ? credit.amount_cents : 0
  const applied = Math.min(balance, total)
  return { ...bill, applied, charged: total - applied }
}
