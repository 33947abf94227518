import { t } from '@lingui/core/macro'
import type { IconName } from '../../ui/Icon'
import type { Entry } from './types'

/** A change in words, with what it looks like. */
export interface Said {
  icon: IconName
  text: string
  small?: string
}

/** A text of a record: a name in English where there are several. */
function text(of: unknown): string | undefined {
  if (typeof of === 'string') return of || undefined
  if (typeof of === 'number') return String(of)
  if (of && typeof of === 'object' && 'en' in of) return text((of as { en: unknown }).en)
  return undefined
}

/** What a change was made to, by the name it has, had, or its number. */
function nameOf({ after, before, resource_id, resource_name }: Entry): string {
  const of = (key: string) => text(after?.[key]) ?? text(before?.[key])
  return resource_name ?? of('name') ?? of('email') ?? of('code') ?? of('slug') ?? of('url') ?? of('number') ?? shortened(resource_id)
}

/** An id in few letters. */
const shortened = (id: string) => (id.length > 20 ? `${id.slice(0, 8)}…` : id)

/** Who did it: a person, a program by its key, or the service itself. */
function whoOf(entry: Entry): string {
  if (entry.actor) return entry.actor.name
  if (entry.api_key) return t`The key “${entry.api_key.name}”`
  return t`The service`
}

type Words = (who: string, what: string, entry: Entry) => string

const role = (entry: Entry) => text(entry.after?.role) ?? text(entry.before?.role) ?? ''

/** The changes that have words of their own, by the action of the trail. */
const actions: Record<string, [IconName, Words]> = {
  'member.role_changed': ['person', (who, what, entry) => t`${who} gave ${what} the role ${role(entry)}`],
  'member.removed': ['person', (who, what) => t`${who} removed ${what}`],
  'member.left': ['person', (who) => t`${who} left`],
  'member.renamed': ['pencil', (who, what) => t`${who} changed the name of ${what}`],
  'member.password_set': ['lock', (who, what) => t`${who} set a new password for ${what}`],
  'invitation.created': ['mail', (who, what, entry) => t`${who} invited ${what} as ${role(entry)}`],
  'invitation.resent': ['mail', (who, what) => t`${who} sent the invitation of ${what} again`],
  'invitation.revoked': ['mail', (who, what) => t`${who} took back the invitation of ${what}`],
  'invitation.accepted': ['person', (who, what) => t`${who} accepted the invitation of ${what}`],
  'tenant.created': ['building', (who) => t`${who} opened the organization`],
  'tenant.updated': ['pencil', (who) => t`${who} changed the details of the organization`],
  'tenant.setup_completed': ['check', (who) => t`${who} completed the setup`],
  'tenant.deleted': ['x', (who) => t`${who} deleted the organization`],
  'tenant.dissolved': ['x', (who) => t`${who} deleted the empty organization`],
  'tenant.restored': ['undo', (who) => t`${who} restored the organization`],
  'tenant.purged': ['x', (who) => t`${who} deleted the data for good`],
  'tenant.discarded': ['x', (who) => t`${who} discarded the organization that was not finished`],
  'tenant.forsaken': ['person', () => t`The last member has left`],
  'tenant.ownership_transferred': ['swap', (who) => t`${who} handed over the ownership`],
  'account.deleted': ['x', (who) => t`${who} deleted their account`],
  'checkout.opened': ['card', (who) => t`${who} opened the checkout`],
  'billing_portal.opened': ['card', (who) => t`${who} opened the billing portal`],
  'subscription.plan_changed': ['swap', (who) => t`${who} changed the plan`],
  'subscription.quantity_changed': ['team', (who) => t`${who} changed the number of seats`],
  'subscription.plan_change_waits': ['clock', (who) => t`${who} asked for another plan, which waits for the payment`],
  'subscription.plan_change_dropped': ['x', (who) => t`${who} dropped the change of plan`],
  'subscription.plan_change_lapsed': ['x', () => t`A change of plan lapsed without a payment`],
  'subscription.canceled': ['x', (who) => t`${who} canceled the subscription`],
  'subscription.resumed': ['undo', (who) => t`${who} resumed the subscription`],
  'subscription.created': ['plus', (who) => t`${who} began the subscription`],
  'invoice.paid': ['card', (who, what) => t`${who} paid invoice ${what}`],
  'invoice.voided': ['x', (who, what) => t`${who} voided invoice ${what}`],
  'impersonation.started': ['eye', (who, what) => t`${who} began to act as ${what}`],
  'impersonation.ended': ['eye', (who, what) => t`${who} stopped acting as ${what}`],
  'api_key.rotated': ['key', (who, what) => t`${who} replaced the API key “${what}”`],
  'api_key.revoked': ['key', (who, what) => t`${who} ended the API key “${what}”`],
  'webhook_endpoint.secret_rotated': ['hook', (who, what) => t`${who} made a new secret for the webhook to ${what}`],
  'webhook_endpoint.tested': ['hook', (who, what) => t`${who} tested the webhook to ${what}`],
  'webhook_endpoint.resent': ['hook', (who, what) => t`${who} sent an event to ${what} again`],
  'webhook_endpoint.replayed': ['hook', (who, what) => t`${who} sent what had failed to ${what} again`],
  'webhook_endpoint.disabled': ['hook', (_, what) => t`The webhook to ${what} failed and is off`],
  'plan.duplicated': ['plan', (who, what) => t`${who} made “${what}” as a copy of a plan`],
  'usage.refusal_retried': ['undo', (who) => t`${who} sent refused usage to the payment provider again`],
  'usage.refusal_discarded': ['x', (who) => t`${who} discarded usage that was refused`],
  'admin.created': ['person', (who, what) => t`${who} made ${what} an administrator of the platform`],
}

/** The kinds of records, for what is created, changed or deleted in the same way. */
function kind(resource: string): [IconName, string] {
  const kinds: Record<string, [IconName, string]> = {
    product: ['plan', t`the product`], plan: ['plan', t`the plan`], feature: ['check', t`the feature`], entitlement: ['check', t`the feature of a plan`],
    plan_price: ['card', t`the price`], currency: ['card', t`the currency`], meter: ['gauge', t`the meter`], role: ['team', t`the role`],
    api_key: ['key', t`the API key`], webhook_endpoint: ['hook', t`the webhook to`], user: ['person', t`the person`], tenant: ['building', t`the organization`],
    subscription: ['swap', t`the subscription`], invitation: ['mail', t`the invitation of`],
  }
  return kinds[resource] ?? ['pencil', resource]
}

/** A change that is like those of other records: created, changed, deleted, linked. */
function sayCommon(entry: Entry, who: string, what: string): Said | undefined {
  const [resource = '', verb = ''] = entry.type.split('.')
  const [icon, of] = kind(resource)
  const words: Record<string, string> = {
    created: t`${who} created ${of} ${what}`, updated: t`${who} changed ${of} ${what}`, deleted: t`${who} deleted ${of} ${what}`,
    psp_created: t`${who} made ${of} ${what} at the payment provider`, psp_linked: t`${who} linked ${of} ${what} to the payment provider`,
    psp_unlinked: t`${who} unlinked ${of} ${what} from the payment provider`, psp_imported: t`${who} took ${of} ${what} from the payment provider`,
  }
  const said = words[verb]
  return said ? { icon, text: said } : undefined
}

/** What a person or a program changed, as the audit trail has it. */
export function sayChange(entry: Entry): Said {
  const who = whoOf(entry)
  const what = nameOf(entry)
  const known = actions[entry.type]
  const said = known ? { icon: known[0], text: known[1](who, what, entry) } : sayCommon(entry, who, what)
  const reason = text(entry.after?.reason)
  const acting = entry.acting_as && t`Acting as ${entry.acting_as.name}.`
  const small = [acting, reason && t`“${reason}”`].filter(Boolean).join(' ')
  return { ...(said ?? { icon: 'pencil', text: `${who}: ${entry.type} ${what}` }), small: small || undefined }
}
