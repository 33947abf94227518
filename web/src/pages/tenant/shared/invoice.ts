import type { Schema } from '../../../api/client'
import type { Formats } from '../../../app/format'

type Invoice = Schema<'Invoice'>

/** Returns the main line of an invoice: its subscription, otherwise its first line. */
export function mainLine(invoice: Invoice) {
  const dated = invoice.lines.filter((line) => line.period_start && line.period_end)
  const kind = (type: string) => dated.filter((line) => line.type === type && line.amount.amount_cents >= 0)
  return kind('subscription').find((line) => line.plan_id) ?? kind('subscription')[0] ?? kind('proration')[0] ?? dated[0] ?? invoice.lines[0]
}

/** Returns the days or the month of an invoice. A period ends on the day before its end. */
export function periodOf(invoice: Invoice, format: Formats, { short = false } = {}): string {
  const line = mainLine(invoice)
  if (!line?.period_start || !line.period_end) return format.monthWithYear(invoice.issue_date)
  return format.period(line.period_start, line.period_end, { short })
}

/** Returns the other lines of an invoice. */
export function otherLines(invoice: Invoice) {
  const main = mainLine(invoice)
  return invoice.lines.filter((line) => line !== main && line.amount.amount_cents !== 0)
}
