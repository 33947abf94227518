import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import { tenantQuery, useMe } from '../../app/session'
import type { Scope } from '../scope'

type KeyScope = Schema<'APIKeyScope'>

/** What each scope opens, in words. */
export const scopeWords: Record<KeyScope, MessageDescriptor> = {
  'usage.write': msg`Record usage`,
  'usage.read': msg`See usage`,
  'entitlements.read': msg`See what the plan gives`,
  'subscription.read': msg`See the subscription and plans`,
  'invoices.read': msg`See invoices and their documents`,
  'team.read': msg`See members and invitations`,
  'tenants.read': msg`See all tenants`,
  'tenants.write': msg`Create and change tenants and their teams`,
  'subscriptions.write': msg`Start and change subscriptions`,
  'limits.write': msg`Change limits`,
  'credit.write': msg`Give credit`,
  'catalog.read': msg`See the catalog`,
}

/** The scopes that only keys of the platform can have. */
const ofPlatform: readonly KeyScope[] = ['tenants.read', 'tenants.write', 'subscriptions.write', 'limits.write', 'credit.write', 'catalog.read']

/** The scopes that a key can have. */
export const scopesOf = (platform: boolean): KeyScope[] =>
  (Object.keys(scopeWords) as KeyScope[]).filter((one) => platform || !ofPlatform.includes(one))

/** The permissions without which nobody can give a key some scope, with the reason in words. */
const needed = {
  'billing.manage': msg`Requires the permission to change the plan and pay.`,
  'tenants.view': msg`Requires the permission to see tenants.`,
  'tenants.manage': msg`Requires the permission to change tenants.`,
  'products.view': msg`Requires the permission to see products.`,
  'plans.view': msg`Requires the permission to see plans.`,
  'features.view': msg`Requires the permission to see features.`,
  'meters.manage': msg`Requires the permission to manage meters.`,
  'currencies.manage': msg`Requires the permission to manage currencies.`,
}

type Permission = keyof typeof needed

/** The permissions for giving a platform key a scope, if not the one to see tenants. */
const platformPermissions: Partial<Record<KeyScope, Permission[]>> = {
  'usage.write': ['tenants.manage'],
  'tenants.write': ['tenants.manage'],
  'limits.write': ['tenants.manage'],
  'credit.write': ['tenants.manage'],
  'subscriptions.write': ['billing.manage', 'tenants.manage'],
  'catalog.read': ['products.view', 'plans.view', 'features.view', 'meters.manage', 'currencies.manage'],
}

/** The permissions for giving a key a scope: what a key opens its maker can use, too. */
function permissionsFor(one: KeyScope, platform: boolean): Permission[] {
  if (platform) return platformPermissions[one] ?? ['tenants.view']
  return one === 'invoices.read' ? ['billing.manage'] : []
}

/** Returns why the caller cannot give a key a scope, or nothing. */
export function useHindrance(scope: Scope): (one: KeyScope) => MessageDescriptor | undefined {
  const { user } = useMe()
  const platform = scope === 'platform'
  const tenant = useQuery({ ...tenantQuery, enabled: !platform }).data
  const held: readonly string[] = platform ? user.permissions : (tenant?.user_permissions ?? [])
  return (one) => {
    const missing = permissionsFor(one, platform).find((permission) => !held.includes(permission))
    return missing && needed[missing]
  }
}

/** Lifetimes to choose from, in days; null is without an end. */
export const lifetimes: (number | null)[] = [30, 90, 365, null]

/** How long both keys work after a rotation, in minutes. */
export const overlaps: number[] = [0, 60, 24 * 60, 7 * 24 * 60]
