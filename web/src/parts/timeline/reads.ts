import { infiniteQueryOptions } from '@tanstack/react-query'
import { coming } from '../../api/coming'
import type { EntryPage, Kind } from './types'

/** Entries by pages, each after the one before. */
function pagesOf(key: unknown[], path: string, kind: Kind | undefined, per_page = 25) {
  return infiniteQueryOptions({
    queryKey: ['timeline', ...key, kind ?? 'all', per_page],
    queryFn: ({ pageParam }) => coming<EntryPage>(path, { kind, per_page, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.meta.next_cursor ?? undefined,
  })
}

/** What happened anywhere, without webhook deliveries. */
export const activityPages = (kind?: Kind, perPage?: number) => pagesOf(['platform'], '/api/v1/admin/activity', kind, perPage)

/** What happened to one tenant, as the platform sees it. */
export const tenantPages = (tenantId: string, kind?: Kind) => pagesOf(['admin', tenantId], `/api/v1/admin/tenants/${tenantId}/timeline`, kind)

/** What happened to a tenant, as its members see it. */
export const ownPages = (tenantId: string, kind?: Kind) => pagesOf(['own', tenantId], `/api/v1/tenant/${tenantId}/timeline`, kind)
