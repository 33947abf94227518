import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { address, api, type Query, type Schema } from '../../../api/client'

/** The position in a list, as the service returns it. */
export type Meta = Schema<'PageMeta'>

/** A sum over everything that matches the filters, in one currency. */
export type Total = Schema<'CreditNoteSums'> & Partial<Schema<'InvoiceSums'>>

export interface Listed<Row> { data: Row[]; meta: Meta & { totals?: Total[] } }

export type TenantRow = Schema<'AdminTenant'>
export type InvoiceRow = Schema<'AdminInvoice'>
export type NoteRow = Schema<'AdminCreditNote'>
export type SubscriptionRow = Schema<'AdminSubscription'>
export type UserRow = Schema<'AdminUser'>

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

/** Returns the parameters of a list. The service validates their values, which come from the address of the page. */
const queryOf = <L extends List>(params: Params) => ({ params: { query: params as Query<`/api/v1/admin/${L}`> } })

const reads: { [L in List]: (params: Params) => Promise<Listed<Rows[L]>> } = {
  tenants: async (params) => (await api.GET('/api/v1/admin/tenants', queryOf<'tenants'>(params))).data!,
  invoices: async (params) => (await api.GET('/api/v1/admin/invoices', queryOf<'invoices'>(params))).data!,
  'credit-notes': async (params) => (await api.GET('/api/v1/admin/credit-notes', queryOf<'credit-notes'>(params))).data!,
  subscriptions: async (params) => (await api.GET('/api/v1/admin/subscriptions', queryOf<'subscriptions'>(params))).data!,
  users: async (params) => (await api.GET('/api/v1/admin/users', queryOf<'users'>(params))).data!,
}

/** The key of a list. The lists of a tenant's objects are reloaded with its page. */
const keyOf = (list: List) => (list === 'tenants' ? ['tenants', 'list'] : ['tenants', 'across', list])

/** A page of a list. */
export const listQuery = <L extends List>(list: L, params: Params) => queryOptions({
  queryKey: [...keyOf(list), params],
  queryFn: () => reads[list](params),
  placeholderData: keepPreviousData,
})

/** The number of rows that match, and their totals, without the rows. */
export const countQuery = (list: List, params: Params) => queryOptions({
  queryKey: [...keyOf(list), 'count', params],
  queryFn: async () => (await reads[list]({ ...params, per_page: 1 })).meta,
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
