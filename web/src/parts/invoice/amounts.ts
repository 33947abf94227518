import type { Schema } from '../../api/client'

type Money = Schema<'Money'>

/** Returns the credited and refunded amounts of an invoice. */
export function settledOf(invoice: Schema<'Invoice'>): { credited: number; refunded: number } {
  const { credited, refunded } = invoice as { credited?: Money; refunded?: Money }
  return { credited: credited?.amount_cents ?? 0, refunded: refunded?.amount_cents ?? 0 }
}

/** Returns the amount of an invoice that remains to be paid after credit and, while it is open, after its credit notes. */
export function leftToPay(invoice: Schema<'Invoice'>): Money {
  const credited = invoice.status === 'open' ? settledOf(invoice).credited : 0
  return { amount_cents: invoice.total.amount_cents - credited - Math.max(0, invoice.balance_applied.amount_cents), currency: invoice.total.currency }
}
