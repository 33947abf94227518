import type { Schema } from '../../../api/client'
import { leftToPay } from '../../../parts/invoice/amounts'
import { costOf, scheduledOf } from '../../../parts/scheduled'
import { regularPrice } from './words'

type Money = Schema<'Money'>
type Invoice = Schema<'Invoice'>

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

/** Returns the next regular invoice with the usage so far, after the discount and the credit. */
export function nextBill(subscription: Schema<'Subscription'>, usage: number, credit: Money | undefined): Bill {
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

/** Returns the sum of the remaining amounts of invoices, by currency. */
export function sumsOf(invoices: Invoice[]): Money[] {
  const sums = new Map<string, number>()
  for (const one of invoices) {
    const { amount_cents, currency } = leftToPay(one)
    sums.set(currency, (sums.get(currency) ?? 0) + amount_cents)
  }
  return [...sums].filter(([, cents]) => cents > 0).map(([currency, amount_cents]) => ({ currency, amount_cents }))
}

/** Splits open invoices into those that require an action and those with a payment in progress. */
export function splitOpen(invoices: Invoice[]): { due: Invoice[]; inProgress: Invoice[] } {
  return { due: invoices.filter((one) => one.payment_action), inProgress: invoices.filter((one) => !one.payment_action) }
}

/** The status of an invoice as customers see it, including how it is settled without an action. */
export type InvoiceShown = Schema<'InvoiceStatus'> | 'in progress' | 'credited' | 'from balance'

export function stateOf({ status, total, balance_applied: applied, payment_action: action }: Invoice): InvoiceShown {
  if (status === 'open' && !action) return 'in progress'
  if (status !== 'paid') return status
  if (total.amount_cents < 0) return 'credited'
  return total.amount_cents > 0 && applied.amount_cents >= total.amount_cents ? 'from balance' : 'paid'
}
