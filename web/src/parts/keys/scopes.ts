import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import type { Schema } from '../../api/client'

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

/** Lifetimes to choose from, in days; null is without an end. */
export const lifetimes: (number | null)[] = [30, 90, 365, null]

/** How long both keys work after a rotation, in minutes. */
export const overlaps: number[] = [0, 60, 24 * 60, 7 * 24 * 60]
