import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import type { Schema } from '../../api/client'

export type EventType = Schema<'WebhookEventType'>

/** The types of events in groups, each in words. */
export const eventGroups: { label: MessageDescriptor; types: [EventType, MessageDescriptor][] }[] = [
  {
    label: msg`Subscription`,
    types: [
      ['subscription.created', msg`A subscription began`], ['subscription.updated', msg`It changed or was renewed`],
      ['subscription.past_due', msg`A payment is overdue`], ['subscription.canceled', msg`It ended`],
    ],
  },
  {
    label: msg`Invoices`,
    types: [['invoice.issued', msg`An invoice was issued`], ['invoice.paid', msg`It was paid`], ['invoice.voided', msg`It was voided`]],
  },
  {
    label: msg`Usage`,
    types: [['usage.quota_warning', msg`80% of a limit are used`], ['usage.quota_reached', msg`A limit is reached`]],
  },
  {
    label: msg`People`,
    types: [
      ['member.joined', msg`Somebody joined`], ['member.role_changed', msg`Somebody got another role`], ['member.removed', msg`Somebody left`],
      ['invitation.created', msg`Somebody was invited`], ['invitation.accepted', msg`An invitation was accepted`], ['invitation.revoked', msg`An invitation was taken back`],
    ],
  },
  {
    label: msg`Organization`,
    types: [
      ['tenant.created', msg`An organization began`], ['tenant.updated', msg`Its details changed`], ['tenant.deleted', msg`It was deleted`],
      ['api_key.created', msg`An API key was made`], ['api_key.revoked', msg`An API key was ended`],
    ],
  },
]

/** All types that one can choose. */
export const eventTypes: EventType[] = eventGroups.flatMap((group) => group.types.map(([type]) => type))
