import { useLingui } from '@lingui/react/macro'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { previewNote, type CreditNote, type Draft, type Preview, type Reason, type Settlement } from '../../../parts/credit/api'
import { settledOf } from '../../../parts/invoice/amounts'
import { useSettled } from './useSettled'

/** What is credited: lines, an amount, or everything that is left. */
export type Choice = 'lines' | 'amount' | 'all'

/** The amount of a selected line, as entered. */
export interface LineText {
  id: string
  text: string
}

/** Returns the amount of an invoice that can still be credited. */
export function leftOf(invoice: Schema<'Invoice'>): number {
  return Math.max(0, invoice.total.amount_cents - settledOf(invoice).credited)
}

/** Returns the amount of a line that can still be credited: what discounts and other credit notes leave of it, at most. */
export function leftOfLine(invoice: Schema<'Invoice'>, line: Schema<'InvoiceLine'>, notes: CreditNote[]): number {
  const exact = (line as { creditable?: Schema<'Money'> }).creditable
  if (exact) return exact.amount_cents
  const plain = invoice.lines.filter((one) => one.type !== 'adjustment' && one.amount.amount_cents > 0)
  const sum = plain.reduce((total, one) => total + one.amount.amount_cents, 0)
  const off = invoice.lines.filter((one) => one.type === 'adjustment').reduce((total, one) => total - Math.min(0, one.amount.amount_cents), 0)
  const credited = notes.filter((one) => one.status === 'issued').flatMap((one) => one.lines).filter((one) => one.line_id === line.id).reduce((total, one) => total + one.amount.amount_cents, 0)
  const share = sum > 0 ? Math.round((off * line.amount.amount_cents) / sum) : 0
  return Math.max(0, line.amount.amount_cents - share - credited)
}

/** Returns the request of the choice; undefined while it has no valid amount. */
export function draftOf({ choice, lines, text, settlement, reason, left, cents }: {
  choice: Choice; lines: LineText[]; text: string; settlement: Settlement; reason: Reason; left: number; cents: (text: string) => number | undefined
}): Draft | undefined {
  const common = { settlement, reason }
  if (choice === 'all') return left > 0 ? { ...common, amount_cents: left } : undefined
  if (choice === 'amount') {
    const amount = cents(text)
    return amount ? { ...common, amount_cents: amount } : undefined
  }
  const wanted = lines.map(({ id, text: entered }) => ({ line_id: id, amount_cents: cents(entered) ?? 0 }))
  return wanted.length > 0 && wanted.every((one) => one.amount_cents > 0) ? { ...common, lines: wanted } : undefined
}

/** Returns the amounts of a credit note, and why they cannot be credited. Refunds are compared here, so that the amounts are known without one. */
export function useNotePreview(tenant: string, invoice: Schema<'Invoice'>, draft: Draft | undefined): { preview?: Preview; refundable?: number; problem?: string; busy: boolean } {
  const { t } = useLingui()
  const format = useFormat()
  const settled = useSettled(draft)
  const body = settled && { ...settled, settlement: settled.settlement === 'refund' ? 'none' as const : settled.settlement }
  const query = useQuery({
    queryKey: ['credit note preview', tenant, invoice.id, body],
    queryFn: () => previewNote(tenant, invoice.id, body!),
    enabled: !!body, retry: false, staleTime: 30_000, gcTime: 0, placeholderData: keepPreviousData,
  })
  const current = draft && JSON.stringify(draft) === JSON.stringify(settled)
  const busy = !!draft && (!current || query.isFetching)
  const { error } = query
  if (error instanceof ApiError && draft) {
    const left = error.code === 'amount_too_large' ? format.sum(error.body.amount_left as Schema<'Money'>) : ''
    return { problem: left ? t`At most ${left} can be credited.` : Object.values(error.fields)[0]?.[0] ?? error.message, busy }
  }
  const preview = draft ? query.data : undefined
  const refundable = query.data?.refundable.amount_cents
  const above = preview && refundable !== undefined && refundable > 0 && draft?.settlement === 'refund' && preview.total.amount_cents > refundable
  const most = refundable === undefined ? '' : format.money(refundable, invoice.total.currency)
  return { preview, refundable, busy, problem: above ? t`At most ${most} can be refunded.` : undefined }
}
