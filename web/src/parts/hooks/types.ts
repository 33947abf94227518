import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import type { Schema } from '../../api/client'

export type EventType = Schema<'WebhookEventType'>

/** The event types in groups, with their descriptions. */
export const eventGroups: { label: MessageDescriptor; types: [EventType, MessageDescriptor][] }[] = [
  {
    label: msg`Subscription`,
    types: [
      ['subscription.created', msg`Subscription created`], ['subscription.updated', msg`Subscription changed or renewed`],
      ['subscription.past_due', msg`Payment overdue`], ['subscription.canceled', msg`Subscription ended`],
    ],
  },
  {
    label: msg`Invoices`,
    types: [['invoice.issued', msg`Invoice issued`], ['invoice.paid', msg`Invoice paid`], ['invoice.voided', msg`Invoice voided`],
      ['invoice.refunded', msg`Payment refunded`], ['credit_note.issued', msg`Credit note issued`]],
  },
  {
    label: msg`Usage`,
    types: [['usage.quota_warning', msg`80% of a limit used`], ['usage.quota_reached', msg`Limit reached`], ['entitlements.changed', msg`Features or limits changed`],
      ['grant.created', msg`Units granted`], ['grant.used_up', msg`Grant used up`], ['grant.expired', msg`Grant expired`]],
  },
  {
    label: msg`Members`,
    types: [
      ['member.joined', msg`Member joined`], ['member.role_changed', msg`Role changed`], ['member.removed', msg`Member left`],
      ['invitation.created', msg`Invitation sent`], ['invitation.accepted', msg`Invitation accepted`], ['invitation.revoked', msg`Invitation revoked`],
    ],
  },
  {
    label: msg`Organization`,
    types: [
      ['tenant.created', msg`Organization created`], ['tenant.updated', msg`Organization details changed`], ['tenant.deleted', msg`Organization deleted`],
      ['api_key.created', msg`API key created`], ['api_key.revoked', msg`API key revoked`],
    ],
  },
]

/** All event types that an endpoint can subscribe to. */
export const eventTypes: EventType[] = eventGroups.flatMap((group) => group.types.map(([type]) => type))
