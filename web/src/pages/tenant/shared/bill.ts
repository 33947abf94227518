import type { Schema } from '../../../api/client'
import { regularPrice } from './words'

type Money = Schema<'Money'>
type Invoice = Schema<'Invoice'>

/** The discount of a subscription, where the service has discounts. */
interface Discounted {
  discount?: { percent_off: number | null; amount: Money | null; ends_at: string | null } | null
}

/** The next regular invoice of a subscription, and what of it is charged. */
export interface Bill {
  /** When it is issued: the end of the period, or of the trial. */
  at: string
  total: number
  /** What the credit pays of the total; undefined where the reader may not know the credit. */
  applied?: number
  /** What is charged; undefined like applied. */
  charged?: number
}

function discountOf(subscription: Schema<'Subscription'> & Discounted, regular: number): number {
  const { discount } = subscription
  if (!discount || (discount.ends_at && discount.ends_at <= subscription.current_period_end)) return 0
  return Math.min(regular, discount.percent_off !== null ? Math.round((regular * discount.percent_off) / 100) : (discount.amount?.amount_cents ?? 0))
}

/** Returns the next regular invoice, with usage so far, after the discount and the credit. */
export function nextBill(subscription: Schema<'Subscription'>, usage: number, credit: Money | undefined): Bill {
  const regular = regularPrice(subscription)
  const total = regular - discountOf(subscription, regular) + usage
  const bill = { at: subscription.current_period_end, total }
  if (!credit) return bill
  // A balance below zero is a debt, which the next invoice collects.
  const balance = credit.currency === subscription.currency ? credit.amount_cents : 0
  const applied = Math.min(balance, total)
  return { ...bill, applied, charged: total - applied }
}

/** Returns what is left to pay of an invoice after the credit that it used. */
export function leftToPay(invoice: Invoice): Money {
  return { amount_cents: invoice.total.amount_cents - Math.max(0, invoice.balance_applied.amount_cents), currency: invoice.total.currency }
}

/** Adds up what is left to pay of invoices, by currency. */
export function sumsOf(invoices: Invoice[]): Money[] {
  const sums = new Map<string, number>()
  for (const one of invoices) {
    const { amount_cents, currency } = leftToPay(one)
    sums.set(currency, (sums.get(currency) ?? 0) + amount_cents)
  }
  return [...sums].filter(([, cents]) => cents > 0).map(([currency, amount_cents]) => ({ currency, amount_cents }))
}

/** Splits open invoices into those that somebody has to pay and those whose payment is in progress. */
export function splitOpen(invoices: Invoice[]): { due: Invoice[]; inProgress: Invoice[] } {
  return { due: invoices.filter((one) => one.payment_action), inProgress: invoices.filter((one) => !one.payment_action) }
}

/** The state of an invoice as a customer reads it: its status, or how it is settled without somebody paying now. */
export type InvoiceShown = Schema<'InvoiceStatus'> | 'in progress' | 'credited' | 'from balance'

export function stateOf({ status, total, balance_applied: applied, payment_action: action }: Invoice): InvoiceShown {
  if (status === 'open' && !action) return 'in progress'
  if (status !== 'paid') return status
  if (total.amount_cents < 0) return 'credited'
  return total.amount_cents > 0 && applied.amount_cents >= total.amount_cents ? 'from balance' : 'paid'
}
