import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { scopeKey, type Scope } from '../scope'

/** The filter of a list of deliveries. */
export interface DeliveryFilter {
  page: number
  status?: Schema<'DeliveryStatus'>
  type?: Schema<'WebhookEventType'>
}

function platformHooks() {
  const at = (endpoint: string) => ({ path: { endpoint } })
  return {
    list: async () => (await api.GET('/api/v1/admin/webhook-endpoints')).data!.data,
    get: async (id: string) => (await api.GET('/api/v1/admin/webhook-endpoints/{endpoint}', { params: at(id) })).data!.data,
    create: async (body: Schema<'CreateWebhookEndpointRequest'>) => (await api.POST('/api/v1/admin/webhook-endpoints', { body })).data!.data,
    change: async (id: string, body: Schema<'UpdateWebhookEndpointRequest'>) =>
      (await api.PATCH('/api/v1/admin/webhook-endpoints/{endpoint}', { params: at(id), body })).data!.data,
    remove: (id: string) => api.DELETE('/api/v1/admin/webhook-endpoints/{endpoint}', { params: at(id) }),
    deliveries: async (id: string, query: DeliveryFilter) =>
      (await api.GET('/api/v1/admin/webhook-endpoints/{endpoint}/deliveries', { params: { ...at(id), query } })).data!,
    delivery: async (id: string, delivery: string) =>
      (await api.GET('/api/v1/admin/webhook-endpoints/{endpoint}/deliveries/{delivery}', { params: { path: { endpoint: id, delivery } } })).data!.data,
    resend: (id: string, delivery: string) =>
      api.POST('/api/v1/admin/webhook-endpoints/{endpoint}/deliveries/{delivery}/resend', { params: { path: { endpoint: id, delivery } } }),
    replay: async (id: string, since: string) =>
      (await api.POST('/api/v1/admin/webhook-endpoints/{endpoint}/replay', { params: at(id), body: { since } })).data!.data,
    newSecret: async (id: string) => (await api.POST('/api/v1/admin/webhook-endpoints/{endpoint}/rotate-secret', { params: at(id) })).data!.data,
    test: (id: string) => api.POST('/api/v1/admin/webhook-endpoints/{endpoint}/test', { params: at(id) }),
  }
}

function tenantHooks(tenantId: string): ReturnType<typeof platformHooks> {
  const at = (endpoint: string) => ({ path: { tenantId, endpoint } })
  const here = { path: { tenantId } }
  return {
    list: async () => (await api.GET('/api/v1/tenant/{tenantId}/webhook-endpoints', { params: here })).data!.data,
    get: async (id) => (await api.GET('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}', { params: at(id) })).data!.data,
    create: async (body) => (await api.POST('/api/v1/tenant/{tenantId}/webhook-endpoints', { params: here, body })).data!.data,
    change: async (id, body) => (await api.PATCH('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}', { params: at(id), body })).data!.data,
    remove: (id) => api.DELETE('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}', { params: at(id) }),
    deliveries: async (id, query) =>
      (await api.GET('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/deliveries', { params: { ...at(id), query } })).data!,
    delivery: async (id, delivery) =>
      (await api.GET('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/deliveries/{delivery}', { params: { path: { tenantId, endpoint: id, delivery } } })).data!.data,
    resend: (id, delivery) =>
      api.POST('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/deliveries/{delivery}/resend', { params: { path: { tenantId, endpoint: id, delivery } } }),
    replay: async (id, since) =>
      (await api.POST('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/replay', { params: at(id), body: { since } })).data!.data,
    newSecret: async (id) => (await api.POST('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/rotate-secret', { params: at(id) })).data!.data,
    test: (id) => api.POST('/api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/test', { params: at(id) }),
  }
}

/** The routes of webhook endpoints of the platform or a tenant. They only differ in their path. */
export const hooksOf = (scope: Scope) => (scope === 'platform' ? platformHooks() : tenantHooks(scope.tenantId))

export const hooksKey = (scope: Scope) => ['webhooks', scopeKey(scope)]

export const endpointsQuery = (scope: Scope) => queryOptions({ queryKey: [...hooksKey(scope), 'list'], queryFn: hooksOf(scope).list })

export const endpointQuery = (scope: Scope, id: string) =>
  queryOptions({ queryKey: [...hooksKey(scope), id], queryFn: () => hooksOf(scope).get(id) })

/** The deliveries of an endpoint, reloaded every few seconds while one is in progress. */
export const deliveriesQuery = (scope: Scope, id: string, filter: DeliveryFilter) => queryOptions({
  queryKey: [...hooksKey(scope), id, 'deliveries', filter],
  queryFn: () => hooksOf(scope).deliveries(id, filter),
  refetchInterval: ({ state }) => (state.data?.data.some((one) => one.status === 'pending') ? 4000 : false),
  placeholderData: (before) => before,
})
