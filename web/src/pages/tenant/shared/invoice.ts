import type { Schema } from '../../../api/client'
import type { Formats } from '../../../app/format'

type Invoice = Schema<'Invoice'>

/** The line that an invoice is about: its subscription, else what it has first. */
export function mainLine(invoice: Invoice) {
  const dated = invoice.lines.filter((line) => line.period_start && line.period_end)
  const kind = (type: string) => dated.filter((line) => line.type === type && line.amount.amount_cents >= 0)
  return kind('subscription').find((line) => line.plan_id) ?? kind('subscription')[0] ?? kind('proration')[0] ?? dated[0] ?? invoice.lines[0]
}

/** The days or the month that an invoice is for. A period ends with the day before its end. */
export function periodOf(invoice: Invoice, format: Formats, { short = false } = {}): string {
  const line = mainLine(invoice)
  if (!line?.period_start || !line.period_end) return format.monthWithYear(invoice.issue_date)
  return format.period(line.period_start, line.period_end, { short })
}

/** What else is on an invoice, in few words. */
export function otherLines(invoice: Invoice) {
  const main = mainLine(invoice)
  return invoice.lines.filter((line) => line !== main && line.amount.amount_cents !== 0)
}
