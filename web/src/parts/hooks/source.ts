import { queryOptions } from '@tanstack/react-query'
import { next, type DeliveryDetail, type DeliveryRow, type PageOf } from '../../api/api-next'
import type { Schema } from '../../api/client'
import { hooksKey, hooksOf } from './api'
import type { Scope } from '../scope'

export type Row = Schema<'WebhookDelivery'> & Partial<Pick<DeliveryRow, 'endpoint' | 'tenant'>>

export interface Filter {
  page: number
  status?: Schema<'DeliveryStatus'>
  type?: Schema<'WebhookEventType'>
  tenant?: string
  endpoint?: string
}

/** The deliveries of one endpoint, or all that the platform may see. They only differ in their paths. */
export interface Source {
  key: string[]
  list: (filter: Filter) => Promise<PageOf<Row>>
  get: (id: string) => Promise<DeliveryDetail>
  resend: (id: string) => Promise<unknown>
}

function everywhere(): Source {
  const path = '/api/v1/admin/webhook-deliveries'
  const at = (delivery: string) => ({ params: { path: { delivery } } })
  return {
    key: [...hooksKey('platform'), 'everywhere'],
    list: async ({ page, status, type, tenant, endpoint }) =>
      (await next.GET<PageOf<Row>>(path, { params: { query: { page, 'filter[status]': status, 'filter[type]': type, 'filter[tenant]': tenant, 'filter[endpoint]': endpoint } } })).data!,
    get: async (id) => (await next.GET<{ data: DeliveryDetail }>(`${path}/{delivery}`, at(id))).data!.data,
    resend: (id) => next.POST(`${path}/{delivery}/resend`, at(id)),
  }
}

function ofEndpoint(scope: Scope, endpoint: string): Source {
  const hooks = hooksOf(scope)
  const path = scope === 'platform' ? '/api/v1/admin/webhook-endpoints' : '/api/v1/tenant/{tenantId}/webhook-endpoints'
  const params = (delivery: string) => ({ path: { endpoint, delivery, ...(scope === 'platform' ? {} : scope) } })
  return {
    key: [...hooksKey(scope), endpoint],
    list: ({ page, status, type }) => hooks.deliveries(endpoint, { page, status, type }),
    get: async (id) => (await next.GET<{ data: DeliveryDetail }>(`${path}/{endpoint}/deliveries/{delivery}`, { params: params(id) })).data!.data,
    resend: (id) => hooks.resend(endpoint, id),
  }
}

export const sourceOf = (scope: Scope, endpoint?: string): Source => (endpoint ? ofEndpoint(scope, endpoint) : everywhere())

/** A page of deliveries, reloaded every few seconds while one is in progress. */
export const listQuery = (source: Source, filter: Filter) => queryOptions({
  queryKey: [...source.key, 'deliveries', filter],
  queryFn: () => source.list(filter),
  refetchInterval: ({ state }) => (state.data?.data.some((one) => one.status === 'pending') ? 4000 : false),
  placeholderData: (before) => before,
})

/** A delivery with its request and responses. */
export const detailQuery = (source: Source, id: string) => queryOptions({
  queryKey: [...source.key, 'delivery', id],
  queryFn: () => source.get(id),
  refetchInterval: ({ state }) => (state.data?.status === 'pending' ? 4000 : false),
})
