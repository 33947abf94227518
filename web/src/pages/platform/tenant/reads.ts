import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { coming } from '../../../api/coming'

type Money = Schema<'Money'>

/** What the payment provider knows of a tenant, and what was paid. */
export interface Billing {
  payment_method: { type: string; brand: string | null; last4: string | null; exp_month: number | null; exp_year: number | null } | null
  last_decline: {
    at: string; invoice_id: string; number: string; amount_due: Money; attempts: number; next_attempt_at: string | null; decline_code: string | null
  } | null
  psp_customer_id: string | null
  totals: { currency: string; paid: Money; open: Money; paid_count: number; open_count: number }[]
}

const at = (tenant: string) => ({ params: { path: { tenant } } })

/** Everything about one tenant is below this key, so that one change reads all of it again. */
export const tenantKey = (id: string) => ['tenants', id]

export const oneQuery = (id: string) => queryOptions({
  queryKey: tenantKey(id),
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}', at(id))).data!.data,
})

export const subscriptionsQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'subscriptions'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/subscriptions', at(id))).data!.data,
})

export const membersQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'members'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/members', at(id))).data!.data,
})

export const invitationsQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'invitations'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/invitations', { params: { path: { tenant: id }, query: { pending_only: true } } })).data!.data,
})

export const billingQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'billing'],
  queryFn: async () => (await coming<{ data: Billing }>(`/api/v1/admin/tenants/${id}/billing`)).data,
})
