import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import { scopeKey, type Scope } from '../scope'

/** The filters of the request log. from and to are days. */
export interface Filter {
  status?: string
  method?: string
  route?: string
  api_key?: string
  tenant?: string
  from?: string
  to?: string
}

/** A request. Only the platform's log names the tenant. */
export type LoggedRequest = Schema<'LoggedRequest'> & Partial<Pick<Schema<'AdminLoggedRequest'>, 'tenant'>>

interface Page { data: LoggedRequest[]; meta: Schema<'RequestLogMeta'> }

/** The request log, newest first, page by page. */
export const requestsQuery = (scope: Scope, { from, to, ...filter }: Filter) => infiniteQueryOptions({
  queryKey: ['requests', scopeKey(scope), filter, from, to],
  queryFn: async ({ pageParam }): Promise<Page> => {
    const query = { ...Object.fromEntries(Object.entries(filter).map(([name, value]) => [`filter[${name}]`, value])), from, to, cursor: pageParam || undefined, per_page: 50 }
    if (scope === 'platform') return (await api.GET('/api/v1/admin/request-logs', { params: { query } })).data!
    return (await api.GET('/api/v1/tenant/{tenantId}/request-logs', { params: { path: { ...scope }, query } })).data!
  },
  initialPageParam: '',
  getNextPageParam: (last) => last.meta.next_cursor ?? undefined,
  select: ({ pages }) => ({ rows: pages.flatMap((page) => page.data), sampled: pages.some((page) => page.meta.sampled) }),
})
