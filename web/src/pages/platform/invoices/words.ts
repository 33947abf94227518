import { now } from '../../../app/clock'
import type { Schema } from '../../../api/client'

/** Returns the words for the content of an invoice: its subscription, otherwise its first line. */
export function contentOf(invoice: Schema<'Invoice'>): string {
  const dated = invoice.lines.filter((one) => one.amount.amount_cents >= 0)
  return (dated.find((one) => one.type === 'subscription') ?? dated[0] ?? invoice.lines[0])?.description ?? ''
}

/** Reports whether an open invoice is due since yesterday or longer. The service's day can differ by hours. */
export function isOverdue({ status, due_date }: Schema<'Invoice'>): boolean {
  return status === 'open' && due_date !== null && due_date.slice(0, 10) < new Date(now()).toISOString().slice(0, 10)
}

/** Reports whether a credit note can be made for an invoice. */
export function isCreditable({ status, total }: Schema<'Invoice'>): boolean {
  return status !== 'draft' && status !== 'void' && total.amount_cents > 0
}
