import { i18n } from '@lingui/core'
import { plural, t } from '@lingui/core/macro'
import type { Formats } from '../../app/format'
import { providerName } from '../../app/providers'
import { roleWord } from '../../app/roles'
import type { IconName } from '../../ui/Icon'
import { reasonWords } from '../credit/reasons'
import type { Change, NameOf, Said } from './types'
import { fieldWords, plainType, text, whoOf } from './words'

/** The data to describe a change. */
interface Told {
  entry: Change
  who: string
  /** The name of the changed object, current or former. */
  what: string
  before: Record<string, unknown>
  after: Record<string, unknown>
  name: NameOf
  format: Formats
}

/** Returns the name of the changed object, current or former, or its number. */
function nameOf({ facts, type }: Change, name: NameOf, language: string): string {
  const of = (key: string) => text(facts.after?.[key], language) ?? text(facts.before?.[key], language)
  const found = facts.resource_name ?? name(facts.resource, facts.resource_id)
  if (found) return found
  if (facts.resource === 'user') return of('name') ?? of('email') ?? t`a former member`
  const then = of('name') ?? of('email') ?? of('code') ?? of('slug') ?? of('url')?.replace(/\/#sha256-.*/, '/…') ?? of('domain') ?? of('number')
  if (then) return then
  if (facts.resource === 'webhook_endpoint') return t`an endpoint`
  return type.startsWith('currency') || type.startsWith('rates') ? facts.resource_id : ''
}

/** The role after a change, otherwise the role before. */
const role = ({ after, before }: Told) => roleWord(text(after.role) ?? text(before.role) ?? '')

/** The identity provider of an entry about an account. */
const provider = ({ after, before }: Told) => providerName(text(after.provider) ?? text(before.provider) ?? '')

/** The plan of a subscription, if its name is known. */
const plan = ({ after, name }: Told) => name('plan', text(after.plan_id) ?? '')
const planBefore = ({ before, name }: Told) => name('plan', text(before.plan_id) ?? '')

/** Words with the slug of a pack. */
const packWords = (after: Record<string, unknown>, words: (pack: string) => string) => words(text(after.pack) ?? '')

/** The feature or meter whose limit changed. */
const limited = ({ entry, name }: Told) => name('feature', entry.facts.resource_id) ?? entry.facts.resource_id

/** The amount and the feature of a grant, such as "1,000 API calls". */
const granted = ({ before, after, name, format }: Told) => {
  const of = { ...before, ...after }
  const code = String(of.feature_code)
  return `${format.number(Number(of.amount))} ${name('feature', code) ?? code}`
}

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
  return t`${who} changed the number of seats from ${was} to ${now}`
}

type Words = (of: Told) => string

/** The changes with their own words, by audit action. */
const actions: Record<string, [IconName, Words]> = {
  'member.role_changed': ['person', (of) => t`${of.who} changed the role of ${of.what} to ${role(of)}`],
  'member.added': ['person', (of) => t`${of.who} added ${of.what} as ${role(of)}`],
  'member.removed': ['out', ({ who, what }) => t`${who} removed ${what} from the team`],
  'member.left': ['out', ({ what }) => t`${what} left the team`],
  'member.joined': ['person', ({ what }) => t`${what} joined the team`],
  'member.renamed': ['pencil', ({ who, what }) => t`${who} changed the name of ${what}`],
  'member.password_set': ['lock', ({ who, what }) => t`${who} set a new password for ${what}`],
  'invitation.created': ['mail', (of) => t`${of.who} invited ${of.what} as ${role(of)}`],
  'invitation.resent': ['mail', ({ who, what }) => t`${who} resent the invitation to ${what}`],
  'invitation.revoked': ['x', ({ who, what }) => t`${who} revoked the invitation for ${what}`],
  'invitation.accepted': ['person', ({ who: what }) => t`${what} joined the team`],
  'limit.updated': ['pencil', (of) => t`${of.who} changed the limit of ${limited(of)}`],
  'limit.deleted': ['x', (of) => t`${of.who} removed the override of ${limited(of)}`],
  'grant.created': ['plus', (of) => t`${of.who} granted ${granted(of)}`],
  'grant.deleted': ['x', (of) => t`${of.who} deleted a grant of ${granted(of)}`],
  'credit.adjusted': ['pencil', (of) => (Number(of.after.amount_cents) < 0 ? t`${of.who} took back credit` : t`${of.who} gave credit`)],
  'usage_cap.updated': ['pencil', (of) => t`${of.who} changed the cap of ${limited(of)}`],
  'tenant.created': ['building', ({ who }) => t`${who} created the organization`],
  'tenant.updated': ['pencil', ({ who }) => t`${who} updated the details of the organization`],
  'tenant.setup_completed': ['check', ({ who }) => t`${who} completed the setup`],
  'tenant.vat_checked': ['check', () => t`The VAT number was checked`],
  'tenant.deleted': ['x', ({ who }) => t`${who} deleted the organization`],
  'tenant.dissolved': ['x', ({ who }) => t`${who} deleted the empty organization`],
  'tenant.restored': ['undo', ({ who }) => t`${who} restored the organization`],
  'tenant.purged': ['x', () => t`The data of a deleted organization was permanently deleted`],
  'tenant.discarded': ['x', () => t`An organization that was never set up was deleted`],
  'tenant.forsaken': ['person', () => t`The last member left`],
  'tenant.ownership_transferred': ['swap', ({ who, after, name: find }) => {
    const owner = find('user', text(after.owner_id) ?? '')
    return owner ? t`${who} transferred ownership to ${owner}` : t`${who} transferred ownership`
  }],
  'login.succeeded': ['key', ({ who }) => t`${who} signed in`],
  'login.blocked': ['lock', ({ what, after }) => (after.method === 'code'
    ? t`Sign-in as ${what} was temporarily blocked after too many wrong codes`
    : t`Sign-in as ${what} was temporarily blocked after too many wrong passwords`)],
  'password.changed': ['lock', ({ who }) => t`${who} changed their password`],
  'password.reset': ['lock', ({ who }) => t`${who} reset their password`],
  'email.verified': ['mail', ({ who }) => t`${who} verified their email address`],
  'email.changed': ['mail', ({ who, after }) => {
    const email = text(after.email)
    return email ? t`${who} changed their email address to ${email}` : t`${who} changed their email address`
  }],
  'identity.linked': ['key', (of) => t`${of.who} linked their ${provider(of)} account`],
  'identity.removed': ['key', (of) => t`${of.who} unlinked their ${provider(of)} account`],
  'factor.added': ['lock', ({ who }) => t`${who} added a second factor`],
  'factor.renamed': ['lock', ({ who }) => t`${who} renamed a passkey`],
  'factor.removed': ['lock', ({ who }) => t`${who} removed a second factor`],
  'factor.reset': ['lock', ({ who, what }) => t`${who} removed all second factors of ${what}`],
  'recovery_codes.generated': ['lock', ({ who }) => t`${who} generated new recovery codes`],
  'recovery_code.used': ['lock', ({ who }) => t`${who} used a recovery code`],
  'domain.verified': ['check', ({ who, what }) => t`${who} verified the domain ${what}`],
  'domain.lost': ['alert', ({ what }) => t`Lost the verification of the domain ${what}`],
  'sso.updated': ['lock', ({ who }) => t`${who} changed the single sign-on`],
  'sso.deleted': ['lock', ({ who }) => t`${who} removed the single sign-on`],
  'sso.linked': ['key', ({ who }) => t`${who} signed in with single sign-on for the first time`],
  'sso.exempt_login': ['alert', ({ who }) => t`${who} signed in without the required single sign-on`],
  'account.deleted': ['x', ({ entry, who }) => (entry.actor ? t`${who} deleted their account` : t`A user deleted their account`)],
  'user.imported': ['person', ({ who, what }) => t`${who} imported the account of ${what}`],
  'subscription.imported': ['swap', ({ who }) => t`${who} imported the subscription`],
  'admin.created': ['person', ({ who, what }) => t`${who} created the platform admin ${what}`],
  'admin.granted': ['person', ({ who, what }) => t`${who} made ${what} a platform admin`],
  'admin.revoked': ['person', ({ who, what }) => t`${who} removed the platform admin role from ${what}`],
  'customer.deleted': ['x', () => t`The customer was deleted at the payment provider`],
  'checkout.opened': ['card', (of) => {
    const { who, entry } = of
    const wanted = plan(of)
    const pack = text(of.after.pack)
    if (pack) return entry.actor || entry.api_key ? t`${who} started checkout for the pack ${pack}` : t`Checkout started for the pack ${pack}`
    if (!entry.actor && !entry.api_key) return wanted ? t`Checkout started for ${wanted}` : t`Checkout started`
    return wanted ? t`${who} started checkout for ${wanted}` : t`${who} started checkout`
  }],
  'pack.purchased': ['card', ({ after }) => packWords(after, (pack) => t`The pack ${pack} was purchased`)],
  'pack.refunded': ['undo', ({ after }) => packWords(after, (pack) => t`The pack ${pack} was refunded`)],
  'subscription.promotion_code_applied': ['card', ({ who, entry, after }) => {
    const code = text(after.promotion_code) ?? ''
    return entry.actor || entry.api_key ? t`${who} applied the promotion code ${code}` : t`The promotion code ${code} was applied`
  }],
  'subscription.promotion_code_removed': ['x', ({ who, entry }) => (entry.actor || entry.api_key ? t`${who} removed the promotion code` : t`The promotion code was removed`)],
  'billing_portal.opened': ['card', ({ who }) => t`${who} opened the billing portal`],
  'subscription.created': ['plan', (of) => {
    const begun = plan(of)
    return begun ? t`Subscription to ${begun} started` : t`Subscription started`
  }],
  'subscription.plan_changed': ['swap', planChanged],
  'subscription.quantity_changed': ['team', seats],
  'subscription.plan_change_waits': ['clock', ({ who }) => t`A plan change by ${who} is waiting for payment`],
  'subscription.plan_change_scheduled': ['clock', ({ who }) => t`${who} scheduled a plan change for the end of the period`],
  'subscription.plan_change_dropped': ['x', ({ who }) => t`${who} canceled the plan change`],
  'subscription.plan_change_lapsed': ['x', () => t`A plan change did not take effect`],
  'subscription.metered_prices_changed': ['gauge', () => t`New usage prices now apply`],
  'subscription.canceled': ['x', ({ who }) => t`${who} canceled the subscription`],
  'subscription.resumed': ['undo', ({ who }) => t`${who} resumed the subscription`],
  'invoice.paid': ['card', ({ who, what }) => (what ? t`${who} paid invoice ${what}` : t`${who} paid an invoice`)],
  'invoice.marked_paid': ['card', ({ who, what }) => (what ? t`${who} marked invoice ${what} as paid` : t`${who} marked an invoice as paid`)],
  'invoice.voided': ['x', ({ who, what }) => (what ? t`${who} voided invoice ${what}` : t`${who} voided an invoice`)],
  'credit_note.issued': ['undo', ({ who, after }) => t`${who} issued credit note ${text(after.number) ?? ''}`],
  'credit_note.refund_retried': ['undo', ({ who }) => t`${who} retried a refund`],
  'credit_note.characters_replaced': ['alert', ({ after }) => t`The PDF of credit note ${text(after.number) ?? ''} lacks these characters: ${text(after.characters) ?? ''}`],
  'invoice.characters_replaced': ['alert', ({ what, after }) => t`The PDF of invoice ${what} lacks these characters: ${text(after.characters) ?? ''}`],
  'rates.updated': ['card', ({ who, what }) => t`${who} changed the exchange rates of ${what}`],
  'rates.deleted': ['x', ({ who, what }) => t`${who} deleted the exchange rates of ${what}`],
  'impersonation.started': ['eye', ({ who, what }) => t`${who} started acting as ${what}`],
  'impersonation.ended': ['eye', ({ who, what }) => t`${who} stopped acting as ${what}`],
  'api_key.rotated': ['key', ({ who, what }) => t`${who} replaced the API key ${what}`],
  'api_key.revoked': ['key', ({ who, what }) => t`${who} revoked the API key ${what}`],
  'signing_key.rotated': ['key', () => t`The signing key was rotated`],
  'webhook_endpoint.secret_rotated': ['hook', ({ who, what }) => t`${who} created a new secret for the webhook to ${what}`],
  'webhook_endpoint.tested': ['hook', ({ who, what }) => t`${who} tested the webhook to ${what}`],
  'webhook_endpoint.resent': ['hook', ({ who, what }) => t`${who} resent an event to ${what}`],
  'webhook_endpoint.replayed': ['hook', ({ who, what }) => t`${who} resent failed events to ${what}`],
  'webhook_endpoint.disabled': ['alert', ({ what }) => t`The webhook to ${what} was disabled because its events could not be delivered`],
  'plan.duplicated': ['plan', ({ who, what }) => t`${who} duplicated a plan as ${what}`],
  'usage.refusal_retried': ['undo', ({ who }) => t`${who} resent rejected usage to the payment provider`],
  'usage.refusal_discarded': ['x', ({ who }) => t`${who} discarded usage that the payment provider had rejected`],
}

/** Returns the kind of an object, for changes with common words. */
function kindOf(resource: string): [IconName, string] {
  const kinds: Record<string, [IconName, string]> = {
    product: ['plan', t`the product`], plan: ['plan', t`the plan`], feature: ['check', t`the feature`], entitlement: ['check', t`the entitlement`],
    plan_price: ['card', t`the price`], currency: ['card', t`the currency`], meter: ['gauge', t`the meter`], pack: ['plan', t`the pack`], discount: ['card', t`the promotion code`], role: ['team', t`the role`],
    api_key: ['key', t`the API key`], webhook_endpoint: ['hook', t`the webhook to`], user: ['person', t`the user`], tenant: ['building', t`the organization`],
    subscription: ['swap', t`the subscription`], invitation: ['mail', t`the invitation for`], domain: ['globe', t`the domain`],
  }
  return kinds[resource] ?? ['pencil', plainType(resource)]
}

/** Describes a common change: created, changed, deleted, linked. */
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

/** Returns the words for the reason of a credit note. */
function noteReason(reason: unknown): string | undefined {
  const words = Object.entries(reasonWords).find(([value]) => value === reason)?.[1]
  return words && i18n._(words)
}

/** Returns details of a change if they fit in a few words. */
function detail({ entry, before, after, format }: Told): string | undefined {
  switch (entry.type) {
    case 'tenant.updated': return format.list(fieldWords(after)) || undefined
    case 'member.role_changed': {
      const old = roleWord(text(before.role) ?? '')
      return old ? t`Previously ${old}` : undefined
    }
    case 'login.succeeded': {
      const method = text(after.method)
      const known: Record<string, string> = { password: t`With a password`, passkey: t`With a passkey`, email: t`With an email code`, sso: t`With single sign-on` }
      return method && (known[method] ?? t`With ${providerName(method)}`)
    }
    case 'email.changed': {
      const old = text(before.email)
      return old && t`Previously ${old}`
    }
    case 'credit_note.issued': return noteReason(after.reason)
    case 'subscription.canceled': return after.immediately === true ? t`Immediately` : undefined
    default: return undefined
  }
}

/** Describes an entry of the audit trail. */
export function sayChange(entry: Change, find: NameOf, format: Formats, language: string): Said {
  const before = entry.facts.before ?? {}
  const after = entry.facts.after ?? {}
  const told: Told = { entry, who: whoOf(entry), what: nameOf(entry, find, language), before, after, name: find, format }
  const known = actions[entry.type]
  const said = known ? { icon: known[0], text: known[1](told) } : sayCommon(told)
  const reason = entry.type === 'credit_note.issued' ? undefined : text(after.reason)
  // The sentence of an impersonation names the user.
  const acting = entry.acting_as && !entry.type.startsWith('impersonation.') && t`Acting as ${entry.acting_as.name}.`
  const quoted = (reason: string) => t`“${reason}”`
  const why = entry.acting_as?.reason
  const small = [detail(told), acting, why && quoted(why), reason && reason !== why && quoted(reason)].filter(Boolean).join(' · ')
  return { ...(said ?? { icon: 'activity', text: `${told.who}: ${plainType(entry.type)} ${told.what}`.trim() }), small: small || undefined }
}
