import { queryOptions, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { ApiError, api, hasSession, type Schema } from '../api/client'
import { turnAlertsOff } from './alerts'

/** The public settings of the service. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: async () => (await api.GET('/api/v1/settings')).data!.data,
  staleTime: Infinity,
})

/** The signed-in user, or null. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ client, queryKey }): Promise<Schema<'Profile'> | null> => {
    // Keep the previous user when the session expires, so that forms are not lost: the login dialog
    // appears.
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

/** Returns the signed-in user. Only for pages that require a session. */
export function useMe(): Schema<'Profile'> {
  const me = useQuery(meQuery).data
  if (!me) throw new Error('nobody is signed in')
  return me
}

/** The user's tenant, with the user's permissions. */
export const tenantQuery = queryOptions({
  queryKey: ['tenant'],
  queryFn: async () => (await api.GET('/api/v1/tenant')).data!.data,
})

/** Returns the user's tenant. Only for the pages of a tenant. */
export function useTenant(): Schema<'Tenant'> {
  return useSuspenseQuery(tenantQuery).data
}

/**
 * Permissions that an impersonating admin does not have, because the result would outlive the
 * impersonation.
 */
const ownOnly: Schema<'TenantPermission'>[] = ['api_keys.manage', 'webhooks.manage']

/** Returns a function that reports whether the user has a permission in the tenant, also while it can only be used to read. */
export function useHolds(): (permission: Schema<'TenantPermission'>) => boolean {
  const { user_permissions } = useTenant()
  return (permission) => user_permissions.includes(permission)
}

/** Returns a function that reports whether the user can act with a permission. With view-only access, nothing can be changed. */
export function useMay(): (permission: Schema<'TenantPermission'>) => boolean {
  const holds = useHolds()
  const acting = useActing()
  const viewOnly = useMe().impersonation?.read_only
  return (permission) => holds(permission) && !(acting && ownOnly.includes(permission)) && !(viewOnly && permission !== 'audit.view')
}

/** Reports whether an admin acts as the user. Sign-in settings cannot be changed then. */
export function useActing(): boolean {
  return useMe().impersonation?.is_impersonating === true
}

/** Returns the path to open after signing in. It is always a path of this console. */
export function within(next: string | undefined): string {
  if (!next) return '/'
  try {
    const at = new URL(next, location.origin)
    return at.origin === location.origin ? at.pathname + at.search + at.hash : '/'
  } catch {
    return '/'
  }
}

/** Signs out and clears all cached data. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient()
  return async () => {
    // The next user of this browser must not see this user's alerts.
    await turnAlertsOff().catch(() => {})
    await api.POST('/api/v1/auth/logout').catch(() => {})
    queries.clear()
    location.assign(document.baseURI)
  }
}
