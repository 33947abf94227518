import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { leftToPay } from '../../../parts/invoice/amounts'

type Money = Schema<'Money'>
type Invoice = Schema<'Invoice'>

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

/** Reports whether the due day of an invoice has passed. The whole day counts. */
export function isLate({ due_date }: Invoice): boolean {
  return !!due_date && new Date(due_date).getTime() + 86_400_000 <= now()
}

/** Returns open invoices, most urgent first: failed payments, then by due date, then payments in progress. */
export function byUrgency(invoices: Invoice[]): Invoice[] {
  const rank = ({ payment_action, due_date }: Invoice) => (payment_action ? due_date ?? '' : '9')
  return invoices.toSorted((a, b) => rank(a).localeCompare(rank(b)))
}

/** The status of an invoice as customers see it, including how it is settled without an action. */
export type InvoiceShown = Schema<'InvoiceStatus'> | 'in progress' | 'credited' | 'from balance'

export function stateOf({ status, total, balance_applied: applied, payment_action: action }: Invoice): InvoiceShown {
  if (status === 'open' && !action) return 'in progress'
  if (status !== 'paid') return status
  if (total.amount_cents < 0) return 'credited'
  return total.amount_cents > 0 && applied.amount_cents >= total.amount_cents ? 'from balance' : 'paid'
}
