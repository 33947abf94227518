import { queryOptions, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { ApiError, api, hasSession, type Schema } from '../api/client'
import { turnAlertsOff } from './alerts'

/** What everybody may know about the service. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await api.GET('/api/v1/settings')).data!.data,
  staleTime: Infinity,
})

/** Who is signed in, or null. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client, queryKey }): Promise<Schema<'Profile'> | null> => {
    // Who was signed in stays so for the pages, whose forms would be gone: the login is asked for again.
    const before = client.getQueryData<Schema<'Profile'> | null>(queryKey)
    if (!before && !hasSession()) return null
    try {
      return (await api.GET('/api/v1/auth/me')).data!
    } catch (error) {
      if (!before && error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
  staleTime: 60_000,
})

export function useSettings(): Schema<'Settings'> {
  return useSuspenseQuery(settingsQuery).data
}

/** Who is signed in. Only for pages behind the login. */
export function useMe(): Schema<'Profile'> {
  const me = useQuery(meQuery).data
  if (!me) throw new Error('nobody is signed in')
  return me
}

/** The caller's tenant, with what the caller may do in it. */
export const tenantQuery = queryOptions({
  queryKey: ['tenant'],
  queryFn: async () => (await api.GET('/api/v1/tenant')).data!.data,
})

/** The caller's tenant. Only for the pages of a tenant. */
export function useTenant(): Schema<'Tenant'> {
  return useSuspenseQuery(tenantQuery).data
}

/** What nobody may who acts as somebody else: it would outlive the acting. */
const ownOnly: Schema<'TenantPermission'>[] = ['api_keys.manage', 'webhooks.manage']

/** Returns whether the caller may do something in the tenant. */
export function useMay(): (permission: Schema<'TenantPermission'>) => boolean {
  const { user_permissions } = useTenant()
  const acting = useMe().impersonation?.is_impersonating === true
  return (permission) => user_permissions.includes(permission) && !(acting && ownOnly.includes(permission))
}

/** The address to go to after signing in: one of this console, never elsewhere, whatever the address bar says. */
export function within(next: string | undefined): string {
  if (!next) return '/'
  try {
    const at = new URL(next, location.origin)
    return at.origin === location.origin ? at.pathname + at.search + at.hash : '/'
  } catch {
    return '/'
  }
}

/** Signs out here and forgets all that was read. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  return async () => {
    // Whoever uses this browser next shall not read one's alerts.
    await turnAlertsOff().catch(() => {})
    await api.POST('/api/v1/auth/logout').catch(() => {})
    queries.clear()
    location.assign(document.baseURI)
  }
}
