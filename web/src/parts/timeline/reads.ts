import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client'
import type { Change, Entry, Kind } from './types'

/** The owner of a time line: everything, a tenant as admins see it, or the user's own tenant. */
export type Whose = 'all' | { tenant: string } | { own: string }

const perPage = 25

/** A period: from a time, inclusive, to a time, exclusive. */
interface Range { from?: string; to?: string }

async function read(whose: Whose, query: Range & { kind?: Kind; cursor?: string; per_page: number }): Promise<Schema<'TimelinePage'>> {
  if (whose === 'all') return (await api.GET('/api/v1/admin/activity', { params: { query } })).data!
  if ('tenant' in whose) return (await api.GET('/api/v1/admin/tenants/{tenant}/timeline', { params: { path: whose, query } })).data!
  return (await api.GET('/api/v1/tenant/{tenantId}/timeline', { params: { path: { tenantId: whose.own }, query } })).data!
}

/** A time line, newest first, page by page. */
export const timelineQuery = (whose: Whose, kind?: Kind, count = perPage, range: Range = {}) => infiniteQueryOptions({
  queryKey: ['audit', 'timeline', whose, kind ?? 'all', count, range],
  queryFn: ({ pageParam }) => read(whose, { ...range, kind, cursor: pageParam || undefined, per_page: count }),
  initialPageParam: '',
  getNextPageParam: (last) => last.meta.next_cursor ?? undefined,
  select: ({ pages }) => pages.flatMap((page) => page.data as Entry[]),
})

/** Converts an audit entry to a time line entry, with the names that the page knows. */
export function changeOf(one: Schema<'AuditEntry'>, person: (id: number) => string, record: (resource: string, id: string) => string | undefined): Change {
  const somebody = (id: number | null) => (id === null ? null : { id, name: person(id) })
  return {
    id: `audit-${one.id}`, type: one.action, kind: 'changes', at: one.created_at,
    tenant: one.tenant_id ? { id: one.tenant_id, name: record('tenant', one.tenant_id) ?? '' } : null,
    actor: somebody(one.actor_id), acting_as: one.acting_as,
    by: one.api_key_id ? 'api_key' : one.actor_id !== null ? 'user' : 'service',
    api_key: one.api_key_id ? { id: one.api_key_id, name: record('api_key', one.api_key_id) ?? one.api_key_id.slice(0, 8) } : null,
    facts: {
      resource: one.resource, resource_id: one.resource_id, before: one.before, after: one.after,
      resource_name: one.resource === 'user' ? person(Number(one.resource_id)) : record(one.resource, one.resource_id) ?? null,
    },
  }
}
