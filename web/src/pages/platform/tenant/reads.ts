import { queryOptions } from '@tanstack/react-query'
import { api } from '../../../api/client'

const at = (tenant: string) => ({ params: { path: { tenant } } })

/** All queries of a tenant share this key, so that a change reloads all of them. */
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

/** Open and paid amounts with their payment methods. The methods come from the provider. */
export const billingQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'billing'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/billing', at(id))).data!.data,
})
