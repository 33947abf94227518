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

/** The usage of every meter with its limits. */
export const quotasQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'quotas'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/usage/quotas', at(id))).data!.data.meters,
})

/** The limits of every feature: the plan's limit, the override, and the effective limit. */
export const limitsQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'limits'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/limits', at(id))).data!.data,
})

/** The granted and purchased units, newest first. */
export const grantsQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'grants'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/grants', at(id))).data!.data,
})

/** The credit that the next invoices use, with its entries. */
export const creditQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'credit'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/credit', at(id))).data!.data,
})

/** All meters, for the aggregation, which decides whether units can be granted. */
export const metersQuery = queryOptions({
  queryKey: ['meters', 'all'],
  queryFn: async () => (await api.GET('/api/v1/admin/meters', { params: { query: { per_page: 100 } } })).data!.data,
})

/** An invoice with its lines. */
export const invoiceQuery = (tenant: string, invoice: string) => queryOptions({
  queryKey: [...tenantKey(tenant), 'invoices', invoice],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/invoices/{invoice}', { params: { path: { tenant, invoice } } })).data!.data,
})

/** The API keys of a tenant. */
export const tenantKeysQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'api-keys'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/api-keys', { params: { path: { tenant: id }, query: { per_page: 100 } } })).data!.data,
})

/** The webhook endpoints of a tenant. */
export const tenantHooksQuery = (id: string) => queryOptions({
  queryKey: [...tenantKey(id), 'webhook-endpoints'],
  queryFn: async () => (await api.GET('/api/v1/admin/tenants/{tenant}/webhook-endpoints', at(id))).data!.data,
})
