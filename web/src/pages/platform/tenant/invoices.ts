import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { readNote, type CreditNote } from '../../../parts/credit/api'
import { timelineQuery } from '../../../parts/timeline/reads'
import type { Entry } from '../../../parts/timeline/types'
import { trailQuery } from '../activity/entries'
import { usePlatformMay } from '../may'
import { tenantKey } from './reads'

/** An invoice in the time line of a tenant, with its latest event. */
export interface Listed {
  id: string
  number: string
  amount: number
  currency: string
  issued?: string
  latest: Extract<Entry, { kind: 'payments' }>
}

/** Returns the invoices of a tenant, newest first, as its time line shows them. */
export function useInvoices(tenant: string) {
  const entries = useInfiniteQuery(timelineQuery({ tenant }, 'payments', 100))
  const found = new Map<string, Listed>()
  for (const entry of entries.data ?? []) {
    if (entry.kind !== 'payments' || !entry.facts.invoice || !entry.facts.number) continue
    const { invoice: id, number, amount, currency } = entry.facts
    const known = found.get(id) ?? { id, number, amount, currency, latest: entry }
    found.set(id, entry.type === 'invoice.issued' ? { ...known, amount, issued: entry.at } : known)
  }
  return { entries, invoices: [...found.values()] }
}

/** Returns the credit notes of an invoice, newest first. The audit trail has their ids. */
export function useNotes(tenant: string, invoice: string): { notes: CreditNote[]; isLoading: boolean } {
  const may = usePlatformMay()
  const trail = useQuery({ ...trailQuery({ 'filter[tenant]': tenant, 'filter[action]': 'credit_note.issued', per_page: 100 }), enabled: may('logs.view') })
  const ids = [...new Set((trail.data?.data ?? []).map((one) => one.resource_id))]
  const notes = useQueries({ queries: ids.map((id) => ({ queryKey: [...tenantKey(tenant), 'credit notes', id], queryFn: () => readNote(tenant, id) })) })
  return { notes: notes.flatMap((one) => (one.data?.invoice_id === invoice ? [one.data] : [])), isLoading: trail.isLoading || notes.some((one) => one.isLoading) }
}
