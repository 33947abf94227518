import type { Schema, Tenantry } from './client.js'

/** What a permission is called in a tenant. */
export type TenantPermission = Schema<'TenantPermission'>

/** What nobody may who acts as somebody else: it would outlive the acting. */
const ownOnly: readonly TenantPermission[] = ['api_keys.manage', 'webhooks.manage']

/** What the caller may do. It decides what a page shows; the service decides again at each call. */
export interface Permissions {
  /** Reports whether the caller may do something in their tenant. */
  may(permission: TenantPermission): boolean
  /** Reports whether the caller may do something as an administrator of the platform, such as `tenants.view`. */
  mayAsAdmin(permission: string): boolean
}

/** Returns what somebody may do, from `GET /api/v1/auth/me` and, if they are in a tenant, `GET /api/v1/tenant`. */
export function permissionsOf(me: Schema<'Profile'>, tenant?: Pick<Schema<'Tenant'>, 'user_permissions'>): Permissions {
  const acting = me.impersonation?.is_impersonating === true
  return {
    may: (permission) => (tenant?.user_permissions.includes(permission) ?? false) && !(acting && ownOnly.includes(permission)),
    mayAsAdmin: (permission) => !acting && me.user.is_platform_admin && me.user.permissions.includes(permission),
  }
}

/** Asks the service what the caller may do. */
export async function readPermissions(tenantry: Tenantry, signal?: AbortSignal): Promise<Permissions> {
  const init = signal ? { signal } : {}
  const me = await tenantry.GET('/api/v1/auth/me', init)
  if (!me.currentTenant) return permissionsOf(me)
  return permissionsOf(me, (await tenantry.GET('/api/v1/tenant', init)).data)
}
