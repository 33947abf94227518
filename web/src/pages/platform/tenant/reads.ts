import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'

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

/** What is open and paid, and with what; the provider is asked for the latter. */
export const billingQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'billing'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/billing', at(id))).data!.data,
})
