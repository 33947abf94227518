import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'
import { providerName } from '../../app/providers'
import { roleWord } from '../../app/roles'
import type { IconName } from '../../ui/Icon'
import type { Change, NameOf, Said } from './types'
import { fieldWords, plainType, text, whoOf } from './words'

/** What is needed to say a change. */
interface Told {
  entry: Change
  who: string
  /** What it was made to, by the name that it has or had. */
  what: string
  before: Record<string, unknown>
  after: Record<string, unknown>
  name: NameOf
  format: Formats
}

/** What a change was made to, by the name it has, had, or its number. */
function nameOf({ facts, type }: Change, name: NameOf, language: string): string {
  const of = (key: string) => text(facts.after?.[key], language) ?? text(facts.before?.[key], language)
  const found = facts.resource_name ?? name(facts.resource, facts.resource_id)
  if (found) return found
  if (facts.resource === 'user') return of('name') ?? of('email') ?? t`somebody who has left`
  const then = of('name') ?? of('email') ?? of('code') ?? of('slug') ?? of('url') ?? of('number')
  if (then) return then
  if (facts.resource === 'webhook_endpoint') return t`an endpoint`
  return type.startsWith('currency') ? facts.resource_id : ''
}

/** The role after a change, else the one before. */
const role = ({ after, before }: Told) => roleWord(text(after.role) ?? text(before.role) ?? '')

/** The identity provider of an entry about an account. */
const provider = ({ after, before }: Told) => providerName(text(after.provider) ?? text(before.provider) ?? '')

/** The plan of a subscription, where its name is known. */
const plan = ({ after, name }: Told) => name('plan', text(after.plan_id) ?? '')
const planBefore = ({ before, name }: Told) => name('plan', text(before.plan_id) ?? '')

function planChanged(of: Told): string {
  const { who, before, after } = of
  const to = plan(of)
  if (before.plan_id === after.plan_id && after.quantity !== undefined && before.quantity !== after.quantity) return seats(of)
  const from = planBefore(of)
  if (to && from && from !== to) return t`${who} changed the plan from ${from} to ${to}`
  return to ? t`${who} changed the plan to ${to}` : t`${who} changed the plan`
}

function seats({ who, before, after }: Told): string {
  const count = Number(after.quantity ?? 0)
  const now = plural(count, { one: '# seat', other: '# seats' })
  const was = String(before.quantity ?? '')
  if (!was) return t`${who} changed the number of seats`
  return t`${who} changed the seats: ${now}, before ${was}`
}

type Words = (of: Told) => string

/** The changes that have words of their own, by the action of the trail. */
const actions: Record<string, [IconName, Words]> = {
  'member.role_changed': ['person', (of) => t`${of.who} gave ${of.what} the role ${role(of)}`],
  'member.added': ['person', (of) => t`${of.who} added ${of.what} as ${role(of)}`],
  'member.removed': ['out', ({ who, what }) => t`${who} removed ${what} from the team`],
  'member.left': ['out', ({ what }) => t`${what} left the team`],
  'member.joined': ['person', ({ what }) => t`${what} joined the team`],
  'member.renamed': ['pencil', ({ who, what }) => t`${who} changed the name of ${what}`],
  'member.password_set': ['lock', ({ who, what }) => t`${who} set a new password for ${what}`],
  'invitation.created': ['mail', (of) => t`${of.who} invited ${of.what} as ${role(of)}`],
  'invitation.resent': ['mail', ({ who, what }) => t`${who} sent the invitation of ${what} again`],
  'invitation.revoked': ['x', ({ who, what }) => t`${who} revoked the invitation of ${what}`],
  'invitation.accepted': ['person', (of) => t`${of.who} joined the team as ${role(of)}`],
  'tenant.created': ['building', ({ who }) => t`${who} created the organization`],
  'tenant.updated': ['pencil', ({ who }) => t`${who} changed the details of the organization`],
  'tenant.setup_completed': ['check', ({ who }) => t`${who} completed the setup`],
  'tenant.vat_checked': ['check', () => t`The VAT number was checked`],
  'tenant.deleted': ['x', ({ who }) => t`${who} deleted the organization`],
  'tenant.dissolved': ['x', ({ who }) => t`${who} deleted the empty organization`],
  'tenant.restored': ['undo', ({ who }) => t`${who} restored the organization`],
  'tenant.purged': ['x', () => t`The data of a deleted organization was removed for good`],
  'tenant.discarded': ['x', () => t`An organization that was never set up was removed`],
  'tenant.forsaken': ['person', () => t`The last member has left`],
  'tenant.ownership_transferred': ['swap', ({ who, after, name: find }) => {
    const owner = find('user', text(after.owner_id) ?? '')
    return owner ? t`${who} made ${owner} the owner of the organization` : t`${who} handed over the ownership`
  }],
  'login.succeeded': ['key', ({ who }) => t`${who} signed in`],
  'login.blocked': ['lock', ({ what }) => t`Signing in as ${what} was blocked for a while: too many wrong passwords`],
  'password.changed': ['lock', ({ who }) => t`${who} changed their password`],
  'password.reset': ['lock', ({ who }) => t`${who} set a new password with an emailed link`],
  'email.verified': ['mail', ({ who }) => t`${who} confirmed their email address`],
  'email.changed': ['mail', ({ who, after }) => {
    const email = text(after.email)
    return email ? t`${who} changed their email address to ${email}` : t`${who} changed their email address`
  }],
  'identity.linked': ['key', (of) => t`${of.who} linked an account at ${provider(of)}`],
  'identity.removed': ['key', (of) => t`${of.who} removed the account at ${provider(of)}`],
  'account.deleted': ['x', ({ entry, who }) => (entry.actor ? t`${who} deleted their account` : t`Somebody deleted their account`)],
  'user.imported': ['person', ({ who, what }) => t`${who} imported the account of ${what}`],
  'subscription.imported': ['swap', ({ who }) => t`${who} imported the subscription`],
  'admin.created': ['person', ({ who, what }) => t`${who} created the administrator ${what}`],
  'admin.granted': ['person', ({ who, what }) => t`${who} made ${what} an administrator of the platform`],
  'admin.revoked': ['person', ({ who, what }) => t`${who} took the rights of an administrator from ${what}`],
  'customer.deleted': ['x', () => t`The customer was deleted at the payment provider`],
  'checkout.opened': ['card', (of) => {
    const { who, entry } = of
    const wanted = plan(of)
    if (!entry.actor && !entry.api_key) return wanted ? t`The checkout for ${wanted} was opened` : t`The checkout was opened`
    return wanted ? t`${who} opened the checkout for ${wanted}` : t`${who} opened the checkout`
  }],
  'billing_portal.opened': ['card', ({ who }) => t`${who} opened the billing portal`],
  'subscription.created': ['plan', (of) => {
    const begun = plan(of)
    return begun ? t`The subscription to ${begun} began` : t`The subscription began`
  }],
  'subscription.plan_changed': ['swap', planChanged],
  'subscription.quantity_changed': ['team', seats],
  'subscription.plan_change_waits': ['clock', ({ who }) => t`A change of plan by ${who} waits for its payment`],
  'subscription.plan_change_dropped': ['x', ({ who }) => t`${who} dropped the change of plan`],
  'subscription.plan_change_lapsed': ['x', () => t`A change of plan lapsed without a payment`],
  'subscription.metered_prices_changed': ['gauge', () => t`New prices for usage hold from now on`],
  'subscription.canceled': ['x', ({ who }) => t`${who} canceled the subscription`],
  'subscription.resumed': ['undo', ({ who }) => t`${who} resumed the subscription`],
  'invoice.paid': ['card', ({ who, what }) => (what ? t`${who} paid invoice ${what}` : t`${who} paid an invoice`)],
  'invoice.voided': ['x', ({ who, what }) => (what ? t`${who} voided invoice ${what}` : t`${who} voided an invoice`)],
  'invoice.characters_replaced': ['alert', ({ what, after }) => t`The document of invoice ${what} lacks these characters: ${text(after.characters) ?? ''}`],
  'impersonation.started': ['eye', ({ who, what }) => t`${who} began to act as ${what}`],
  'impersonation.ended': ['eye', ({ who, what }) => t`${who} stopped acting as ${what}`],
  'api_key.rotated': ['key', ({ who, what }) => t`${who} replaced the API key ${what}`],
  'api_key.revoked': ['key', ({ who, what }) => t`${who} ended the API key ${what}`],
  'webhook_endpoint.secret_rotated': ['hook', ({ who, what }) => t`${who} made a new secret for the webhook to ${what}`],
  'webhook_endpoint.tested': ['hook', ({ who, what }) => t`${who} tested the webhook to ${what}`],
  'webhook_endpoint.resent': ['hook', ({ who, what }) => t`${who} sent an event to ${what} again`],
  'webhook_endpoint.replayed': ['hook', ({ who, what }) => t`${who} sent again what had not reached ${what}`],
  'webhook_endpoint.disabled': ['alert', ({ what }) => t`The webhook to ${what} was switched off: nothing could be delivered`],
  'plan.duplicated': ['plan', ({ who, what }) => t`${who} created the plan ${what} as a copy`],
  'usage.refusal_retried': ['undo', ({ who }) => t`${who} sent rejected usage to the payment provider again`],
  'usage.refusal_discarded': ['x', ({ who }) => t`${who} discarded usage that the payment provider had rejected`],
}

/** The kinds of records, for what is created, changed or deleted in the same way. */
function kindOf(resource: string): [IconName, string] {
  const kinds: Record<string, [IconName, string]> = {
    product: ['plan', t`the product`], plan: ['plan', t`the plan`], feature: ['check', t`the feature`], entitlement: ['check', t`the feature of a plan`],
    plan_price: ['card', t`the price`], currency: ['card', t`the currency`], meter: ['gauge', t`the meter`], role: ['team', t`the role`],
    api_key: ['key', t`the API key`], webhook_endpoint: ['hook', t`the webhook to`], user: ['person', t`the person`], tenant: ['building', t`the organization`],
    subscription: ['swap', t`the subscription`], invitation: ['mail', t`the invitation of`],
  }
  return kinds[resource] ?? ['pencil', plainType(resource)]
}

/** A change that is like those of other records: created, changed, deleted, linked. */
function sayCommon({ entry, who, what }: Told): Said | undefined {
  const [resource = '', verb = ''] = entry.type.split('.')
  const [icon, kind] = kindOf(resource)
  const of = `${kind} ${what}`.trim()
  const words: Record<string, string> = {
    created: t`${who} created ${of}`, updated: t`${who} changed ${of}`, deleted: t`${who} deleted ${of}`,
    psp_created: t`${who} created ${of} at the payment provider`, psp_linked: t`${who} linked ${of} to the payment provider`,
    psp_unlinked: t`${who} unlinked ${of} from the payment provider`, psp_imported: t`${who} imported ${of} from the payment provider`,
  }
  const said = words[verb]
  return said ? { icon, text: said } : undefined
}

/** What exactly was changed, where that can be said in few words. */
function detail({ entry, before, after, format }: Told): string | undefined {
  switch (entry.type) {
    case 'tenant.updated': return format.list(fieldWords(after)) || undefined
    case 'member.role_changed': {
      const old = roleWord(text(before.role) ?? '')
      return old ? t`${old} before` : undefined
    }
    case 'login.succeeded': {
      const method = text(after.method)
      return method === 'password' ? t`With a password` : method && t`With ${providerName(method)}`
    }
    case 'email.changed': {
      const old = text(before.email)
      return old && t`${old} before`
    }
    case 'subscription.canceled': return after.immediately === true ? t`At once` : undefined
    default: return undefined
  }
}

/** What a person or a program changed, as the audit trail has it. */
export function sayChange(entry: Change, find: NameOf, format: Formats, language: string): Said {
  const before = entry.facts.before ?? {}
  const after = entry.facts.after ?? {}
  const told: Told = { entry, who: whoOf(entry), what: nameOf(entry, find, language), before, after, name: find, format }
  const known = actions[entry.type]
  const said = known ? { icon: known[0], text: known[1](told) } : sayCommon(told)
  const reason = text(after.reason)
  const acting = entry.acting_as && t`Acting as ${entry.acting_as.name}.`
  const small = [detail(told), acting, reason && t`“${reason}”`].filter(Boolean).join(' · ')
  return { ...(said ?? { icon: 'activity', text: `${told.who}: ${plainType(entry.type)} ${told.what}`.trim() }), small: small || undefined }
}
