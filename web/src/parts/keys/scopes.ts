import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import { tenantQuery, useMe } from '../../app/session'
import type { Scope } from '../scope'

type KeyScope = Schema<'APIKeyScope'>

/** The description of each scope. */
export const scopeWords: Record<KeyScope, MessageDescriptor> = {
  'usage.write': msg`Record usage`,
  'usage.read': msg`View usage`,
  'entitlements.read': msg`View entitlements`,
  'subscription.read': msg`View the subscription and plans`,
  'invoices.read': msg`View invoices and their documents`,
  'team.read': msg`View members and invitations`,
  'tenants.read': msg`View all tenants`,
  'tenants.write': msg`Create and change tenants and their teams`,
  'subscriptions.write': msg`Start and change subscriptions`,
  'limits.write': msg`Change limits`,
  'credit.write': msg`Give credit`,
  'catalog.read': msg`View the catalog`,
}

/** The scopes that only platform keys can have. */
const ofPlatform: readonly KeyScope[] = ['tenants.read', 'tenants.write', 'subscriptions.write', 'limits.write', 'credit.write', 'catalog.read']

/** Returns the scopes that a key can have. */
export const scopesOf = (platform: boolean): KeyScope[] =>
  (Object.keys(scopeWords) as KeyScope[]).filter((one) => platform || !ofPlatform.includes(one))

/** The permissions that are required to give a key certain scopes, with an explanation. */
const needed = {
  'billing.manage': msg`Requires the permission to change the plan and pay.`,
  'tenants.view': msg`Requires the permission to view tenants.`,
  'tenants.manage': msg`Requires the permission to change tenants.`,
  'subscriptions.manage': msg`Requires the permission to manage subscriptions.`,
  'limits.manage': msg`Requires the permission to change limits.`,
  'billing.credit': msg`Requires the permission to give credit.`,
  'products.view': msg`Requires the permission to view products.`,
  'plans.view': msg`Requires the permission to view plans.`,
  'features.view': msg`Requires the permission to view features.`,
  'meters.manage': msg`Requires the permission to manage meters.`,
  'currencies.manage': msg`Requires the permission to manage currencies.`,
}

type Permission = keyof typeof needed

/** The permissions required to give a platform key a scope, if not tenants.view. */
const platformPermissions: Partial<Record<KeyScope, Permission[]>> = {
  'usage.write': ['tenants.manage'],
  'tenants.write': ['tenants.manage'],
  'limits.write': ['limits.manage'],
  'credit.write': ['billing.credit'],
  'subscriptions.write': ['billing.manage', 'subscriptions.manage', 'tenants.manage'],
  'catalog.read': ['products.view', 'plans.view', 'features.view', 'meters.manage', 'currencies.manage'],
}

/**
 * Returns the permissions that are required to give a key a scope, because its creator can use the
 * key, too.
 */
function permissionsFor(one: KeyScope, platform: boolean): Permission[] {
  if (platform) return platformPermissions[one] ?? ['tenants.view']
  return one === 'invoices.read' ? ['billing.manage'] : []
}

/** Returns a function that returns why the user cannot give a key a scope, if anything. */
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

/** Lifetimes to choose from, in days; null never expires. */
export const lifetimes: (number | null)[] = [30, 90, 365, null]

/** How long both keys are valid after a rotation, in minutes. */
export const overlaps: number[] = [0, 60, 24 * 60, 7 * 24 * 60]
