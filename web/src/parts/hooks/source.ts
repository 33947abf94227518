import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { hooksKey, hooksOf } from './api'
import type { Scope } from '../scope'

/** The platform's deliveries name their endpoint and tenant. */
type Place = Partial<Pick<Schema<'AdminWebhookDelivery'>, 'endpoint' | 'tenant'>>

/** A delivery in a list. The type may be one that this version does not know. */
export type Row = Omit<Schema<'WebhookDelivery'>, 'type'> & { type: string } & Place

/** A delivery with the last request, and the response to each attempt. */
export type DeliveryDetail = Omit<Schema<'WebhookDeliveryDetails'>, 'type'> & { type: string } & Place

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
  list: (filter: Filter) => Promise<{ data: Row[]; meta: Schema<'PageMeta'> }>
  get: (id: string) => Promise<DeliveryDetail>
  resend: (id: string) => Promise<unknown>
}

function everywhere(): Source {
  const path = '/api/v1/admin/webhook-deliveries'
  const at = (delivery: string) => ({ params: { path: { delivery } } })
  return {
    key: [...hooksKey('platform'), 'everywhere'],
    list: async ({ page, status, type, tenant, endpoint }) =>
      (await api.GET(path, { params: { query: { page, 'filter[status]': status && [status], 'filter[type]': type && [type], 'filter[tenant]': tenant, 'filter[endpoint]': endpoint } } })).data!,
    get: async (id) => (await api.GET(`${path}/{delivery}`, at(id))).data!.data,
    resend: (id) => api.POST(`${path}/{delivery}/resend`, at(id)),
  }
}

function ofEndpoint(scope: Scope, endpoint: string): Source {
  const hooks = hooksOf(scope)
  return {
    key: [...hooksKey(scope), endpoint],
    list: ({ page, status, type }) => hooks.deliveries(endpoint, { page, status, type }),
    get: (id) => hooks.delivery(endpoint, id),
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
