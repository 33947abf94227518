import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { address, api, type Schema } from '../../../api/client'
import type { CreditNote } from '../../../parts/credit/api'

type Money = Schema<'Money'>

/** The position in a list, as the service returns it. */
export interface Meta { current_page: number; last_page: number; per_page: number; total: number }

/** A sum over everything that matches the filters, in one currency. */
export interface Total { currency: string; count: number; total: number; amount_due?: number }

export interface Listed<Row> { data: Row[]; meta: Meta & { totals?: Total[] } }

export type Owner = { id: string; name: string }

export type TenantRow = Schema<'AdminTenant'> & { mrr: Money | null; last_activity_at: string | null; trial_ends_at: string | null; open_amount: Money[] }

export type InvoiceRow = Schema<'Invoice'> & { tenant: Owner; amount_due: Money }

export type NoteRow = CreditNote & { tenant: Owner }

export type SubscriptionRow = Schema<'Subscription'> & { tenant: Owner; mrr: Money }

export interface UserRow {
  id: number
  name: string
  email: string
  email_verified: boolean
  is_platform_admin: boolean
  permissions: string[] | null
  mfa_enabled: boolean
  tenant: (Owner & { role: string }) | null
  last_login_at: string | null
  created_at: string
}

/** The rows of each list, by its path below /api/v1/admin. */
interface Rows {
  tenants: TenantRow
  invoices: InvoiceRow
  'credit-notes': NoteRow
  subscriptions: SubscriptionRow
  users: UserRow
}

export type List = keyof Rows

/** Parameters of a list by their name in the request. Undefined ones are not sent. */
export type Params = Record<string, string | number | undefined>

const untyped = api as unknown as Record<'GET', (path: string, init: object) => Promise<{ data?: unknown }>>

/** The key of a list. The lists of a tenant's objects are reloaded with its page. */
const keyOf = (list: List) => (list === 'tenants' ? ['tenants', 'list'] : ['tenants', 'across', list])

/** A page of a list. */
export const listQuery = <L extends List>(list: L, params: Params) => queryOptions({
  queryKey: [...keyOf(list), params],
  queryFn: async () => (await untyped.GET(`/api/v1/admin/${list}`, { params: { query: params } })).data as Listed<Rows[L]>,
  placeholderData: keepPreviousData,
})

/** The number of rows that match, and their totals, without the rows. */
export const countQuery = (list: List, params: Params) => queryOptions({
  queryKey: [...keyOf(list), 'count', params],
  queryFn: async () => ((await untyped.GET(`/api/v1/admin/${list}`, { params: { query: { ...params, per_page: 1 } } })).data as Listed<unknown>).meta,
  placeholderData: keepPreviousData,
  staleTime: 30_000,
})

/** Returns the address of a list as a file. It has every row that matches, whatever the page. */
export function csvOf(list: List, params: Params): string {
  const query = new URLSearchParams({ format: 'csv', bom: '1' })
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && name !== 'page' && name !== 'per_page') query.set(name, String(value))
  }
  return address(`/api/v1/admin/${list}?${query}`)
}
