import { queryOptions, useQuery } from '@tanstack/react-query'
import type { CreditNote } from '../../../parts/credit/api'
import { listQuery } from '../lists/reads'
import { tenantKey } from './reads'

/** The invoices of a tenant with a status, newest first, for a selection. */
export const invoicesWith = (tenant: string, status: string) => listQuery('invoices', { 'filter[tenant]': tenant, 'filter[status]': status, per_page: 100 })

/** Reports whether a form has an invoice: a given one, or a loaded list to choose from. */
export function useHasInvoice(tenant: string, status: string, invoice: unknown): boolean {
  const { data } = useQuery({ ...invoicesWith(tenant, status), enabled: !invoice })
  return Boolean(invoice) || (data?.data.length ?? 0) > 0
}

/** The credit notes of an invoice, newest first. */
export const notesQuery = (tenant: string, invoice: string) => {
  const { queryFn } = listQuery('credit-notes', { 'filter[tenant]': tenant, per_page: 100 })
  return queryOptions({
    queryKey: [...tenantKey(tenant), 'credit notes'],
    queryFn: async (context) => (await (queryFn as (context: unknown) => Promise<{ data: CreditNote[] }>)(context)).data,
    select: (found: CreditNote[]) => found.filter((one) => one.invoice_id === invoice),
  })
}
