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
}

/** The scopes that a key can have; tenants.read is for keys of the platform. */
export const scopesOf = (platform: boolean): KeyScope[] =>
  (Object.keys(scopeWords) as KeyScope[]).filter((one) => platform || one !== 'tenants.read')

/** The permissions without which nobody can give a key some scope, with the reason in words. */
const needed = {
  'billing.manage': msg`Requires the permission to change the plan and pay.`,
  'tenants.view': msg`Requires the permission to see tenants.`,
  'tenants.manage': msg`Requires the permission to change tenants.`,
}

/** The permission that giving a key a scope takes: what a key opens its maker can use, too. Undefined if every maker can. */
function permissionFor(one: KeyScope, platform: boolean): keyof typeof needed | undefined {
  if (platform) return one === 'usage.write' ? 'tenants.manage' : 'tenants.view'
  return one === 'invoices.read' ? 'billing.manage' : undefined
}

/** Returns why the caller cannot give a key a scope, or nothing. */
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

/** Lifetimes to choose from, in days; null is without an end. */
export const lifetimes: (number | null)[] = [30, 90, 365, null]

/** How long both keys work after a rotation, in minutes. */
export const overlaps: number[] = [0, 60, 24 * 60, 7 * 24 * 60]
