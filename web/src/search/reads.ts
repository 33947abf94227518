import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from '../api/client'
import type { Scope } from './types'

/** An object that the service found. */
export interface Hit {
  id: string | number
  title: string
  subtitle: string | null
  /** The path of its page. */
  url: string
  status: string | null
}

/** The groups in the order in which they are shown. A group that the user may not list is absent. */
export const groupNames = ['tenants', 'users', 'members', 'plans', 'invoices', 'meters', 'api_keys'] as const

export type Group = (typeof groupNames)[number]

const untyped = api as unknown as Record<'GET', (path: string, init: object) => Promise<{ data?: { data: Partial<Record<Group, Hit[]>> } }>>

/** The objects that match a text of at least two characters. */
export const searchQuery = (scope: Scope, q: string) => queryOptions({
  queryKey: ['search', scope, q],
  queryFn: async () => {
    const answer = scope === 'platform'
      ? await untyped.GET('/api/v1/admin/search', { params: { query: { q } } })
      : await untyped.GET('/api/v1/tenant/{tenantId}/search', { params: { path: scope, query: { q } } })
    return answer.data!.data
  },
  placeholderData: keepPreviousData, retry: false, staleTime: 10_000,
})
