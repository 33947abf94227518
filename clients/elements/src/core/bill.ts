import type { Schema } from './client'

type Invoice = Schema<'Invoice'>
type Subscription = Schema<'Subscription'> & {
  /** Where the service has discounts. */
  discount?: { percent_off: number | null; amount: Schema<'Money'> | null; ends_at: string | null } | null
}

/** The next regular invoice: its total, and what of it the balance pays and what is charged where the reader may know the balance. */
export function nextBill(subscription: Subscription, usage: number, balance: Schema<'Money'> | undefined): { total: number; applied?: number; charged?: number } {
  const { discount, currency } = subscription
  const regular = subscription.price_cents * subscription.quantity
  const off = !discount || (discount.ends_at && discount.ends_at <= subscription.current_period_end) ? 0
    : discount.percent_off !== null ? Math.round((regular * discount.percent_off) / 100) : (discount.amount?.amount_cents ?? 0)
  const total = regular - Math.min(regular, off) + usage
  if (!balance) return { total }
  // A balance below zero is a debt, which the next invoice collects.
  const applied = Math.min(balance.currency === currency ? balance.amount_cents : 0, total)
  return { total, applied, charged: total - applied }
}

/** What is left to pay of an invoice after the credit that it used. */
export function leftToPay({ total, balance_applied: applied }: Invoice): Schema<'Money'> {
  return { amount_cents: total.amount_cents - Math.max(0, applied.amount_cents), currency: total.currency }
}
