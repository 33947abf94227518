import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { Events } from './Events'

/** The entries below the day on which they happened. */
export function Days({ entries }: { entries: Schema<'AuditEntry'>[] }) {
  const format = useFormat()
  const days = new Map<string, Schema<'AuditEntry'>[]>()
  for (const entry of entries) {
    const day = format.dayWithYear(entry.created_at)
    days.set(day, [...(days.get(day) ?? []), entry])
  }
  return [...days].map(([day, those], i) => (
    <Section key={day} className={i === 0 ? 'sec plain' : 'sec'} title={day}><Events entries={those} exact /></Section>
  ))
}
