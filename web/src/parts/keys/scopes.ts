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
}

/** Returns the scopes that a key can have. Only platform keys can have tenants.read. */
export const scopesOf = (platform: boolean): KeyScope[] =>
  (Object.keys(scopeWords) as KeyScope[]).filter((one) => platform || one !== 'tenants.read')

/** The permissions that are required to give a key certain scopes, with an explanation. */
const needed = {
  'billing.manage': msg`Requires the permission to change the plan and pay.`,
  'tenants.view': msg`Requires the permission to view tenants.`,
  'tenants.manage': msg`Requires the permission to change tenants.`,
}

/**
 * Returns the permission that is required to give a key a scope, because its creator can use the
 * key, too. Undefined if none is required.
 */
function permissionFor(one: KeyScope, platform: boolean): keyof typeof needed | undefined {
  if (platform) return one === 'usage.write' ? 'tenants.manage' : 'tenants.view'
  return one === 'invoices.read' ? 'billing.manage' : undefined
}

/** Returns a function that returns why the user cannot give a key a scope, if anything. */
export function useHindrance(scope: Scope): (one: KeyScope) => MessageDescriptor | undefined {
  const { user } = useMe()
  const platform = scope === 'platform'
  const tenant = useQuery({ ...tenantQuery, enabled: !platform }).data
  const held: readonly string[] = platform ? user.permissions : (tenant?.user_permissions ?? [])
  return (one) => {
    const permission = permissionFor(one, platform)
    return permission && !held.includes(permission) ? needed[permission] : undefined
  }
}

/** Lifetimes to choose from, in days; null never expires. */
export const lifetimes: (number | null)[] = [30, 90, 365, null]

/** How long both keys are valid after a rotation, in minutes. */
export const overlaps: number[] = [0, 60, 24 * 60, 7 * 24 * 60]
