import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import type { IconName } from '../../../ui/Icon'
import { useWords } from '../shared/words'
import { useNames } from './names'

export interface Happening {
  icon: IconName
  text: string
  /** What exactly, below. */
  more?: string
}

type Facts = Record<string, unknown>

/** Returns a text, or undefined where there is none. */
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Returns how an entry of the trail is told: always by names and never as you, which needs other verbs in most languages. */
export function useDescribe(): (entry: Schema<'AuditEntry'>) => Happening {
  const { t } = useLingui()
  const words = useWords()
  const names = useNames()

  /** The words of the fields that a change of the organization touches. */
  function fields(after: Facts): string {
    const known: Record<string, string> = {
      name: t`name`, slug: t`short name`, legal_name: t`legal name`, address: t`address`, city: t`city`, postal_code: t`postal code`,
      country: t`country`, vat_number: t`VAT number`, billing_email: t`billing email`, settings: t`settings`,
    }
    return Object.keys(after).flatMap((key) => known[key] ?? []).join(', ')
  }

  return (entry) => {
    const before = (entry.before ?? {}) as Facts
    const after = (entry.after ?? {}) as Facts
    const key = names.key(entry.api_key_id)
    const who = entry.api_key_id
      ? (key ? t`The API key ${key}` : t`An API key`)
      : entry.actor_id === null ? names.service : (names.person(entry.actor_id) ?? t`Somebody who has left`)
    const email = text(after.email) ?? text(before.email) ?? names.invitation(entry.resource_id)?.email ?? t`somebody`
    const person = names.person(entry.resource_id) ?? text(before.name) ?? t`somebody`
    const roleName = text(after.name) ?? text(before.name) ?? names.role(entry.resource_id) ?? t`a role`
    const thing = text(after.name) ?? text(before.name) ?? (entry.resource === 'api_key' ? names.key(entry.resource_id) : undefined) ?? t`a key`
    const url = text(after.url) ?? text(before.url) ?? names.endpoint(entry.resource_id) ?? t`an address`
    const role = words.role(text(after.role) ?? null)
    const old = words.role(text(before.role) ?? null)
    const plan = names.plan(after.plan_id) ?? t`another plan`
    const count = String(after.quantity ?? '')
    const was = String(before.quantity ?? '')
    switch (entry.action) {
      case 'tenant.created': return { icon: 'building', text: t`${who} made the organization` }
      case 'tenant.setup_completed': return { icon: 'check', text: t`${who} finished the setup` }
      case 'tenant.updated': return { icon: 'pencil', text: t`${who} changed the organization`, more: fields(after) }
      case 'tenant.restored': return { icon: 'undo', text: t`${who} brought the organization back` }
      case 'tenant.ownership_transferred': {
        const owner = names.person(after.owner_id) ?? t`somebody`
        return { icon: 'swap', text: t`${who} handed the organization over to ${owner}` }
      }
      case 'member.joined': return { icon: 'person', text: t`${person} joined` }
      case 'member.left': return { icon: 'out', text: t`${who} left the team` }
      case 'member.removed': return { icon: 'out', text: t`${who} removed ${person} from the team` }
      case 'member.role_changed': return { icon: 'pencil', text: t`${who} made ${person} ${role}`, more: text(before.role) && t`${old} before` }
      case 'member.renamed': return { icon: 'pencil', text: t`${who} changed the name of ${person}` }
      case 'member.password_set': return { icon: 'lock', text: t`${who} set a new password for ${person}` }
      case 'invitation.created': return { icon: 'mail', text: t`${who} invited ${email} as ${role}` }
      case 'invitation.resent': return { icon: 'mail', text: t`${who} sent the invitation of ${email} again` }
      case 'invitation.revoked': return { icon: 'x', text: t`${who} took the invitation of ${email} back` }
      case 'invitation.accepted': {
        const joined = names.invitation(entry.resource_id)
        const as = joined && words.role(joined.role)
        return { icon: 'person', text: as ? t`${who} joined as ${as}` : t`${who} joined` }
      }
      case 'role.created': return { icon: 'team', text: t`${who} made the role ${roleName}` }
      case 'role.updated': return { icon: 'team', text: t`${who} changed the role ${roleName}` }
      case 'role.deleted': return { icon: 'team', text: t`${who} deleted the role ${roleName}` }
      case 'api_key.created': return { icon: 'key', text: t`${who} made the API key ${thing}` }
      case 'api_key.updated': return { icon: 'key', text: t`${who} renamed the API key ${thing}` }
      case 'api_key.rotated': return { icon: 'key', text: t`${who} replaced the API key ${thing}` }
      case 'api_key.revoked': return { icon: 'key', text: t`${who} ended the API key ${thing}` }
      case 'webhook_endpoint.created': return { icon: 'hook', text: t`${who} set up a webhook`, more: url }
      case 'webhook_endpoint.updated': return { icon: 'hook', text: t`${who} changed a webhook`, more: url }
      case 'webhook_endpoint.deleted': return { icon: 'hook', text: t`${who} deleted a webhook`, more: url }
      case 'webhook_endpoint.disabled': return { icon: 'alert', text: t`A webhook was switched off: nothing could be delivered`, more: url }
      case 'webhook_endpoint.secret_rotated': return { icon: 'hook', text: t`${who} replaced the secret of a webhook`, more: url }
      case 'webhook_endpoint.tested': return { icon: 'hook', text: t`${who} sent a test to a webhook`, more: url }
      case 'webhook_endpoint.resent': return { icon: 'hook', text: t`${who} sent a message of a webhook again`, more: url }
      case 'webhook_endpoint.replayed': return { icon: 'hook', text: t`${who} repeated messages of a webhook`, more: url }
      case 'checkout.opened': return { icon: 'card', text: t`${who} went to the payment of ${plan}` }
      case 'billing_portal.opened': return { icon: 'card', text: t`${who} opened the payment settings` }
      case 'subscription.created': return { icon: 'plan', text: t`The subscription of ${plan} began` }
      case 'subscription.plan_changed': return { icon: 'plan', text: after.plan_id ? t`${who} changed the plan to ${plan}` : t`${who} changed the seats from ${was} to ${count}` }
      case 'subscription.quantity_changed': return { icon: 'team', text: t`The seats follow the team: ${count}, before ${was}` }
      case 'subscription.canceled': return { icon: 'x', text: t`${who} canceled the subscription`, more: text(after.cancellation_reason) }
      case 'subscription.resumed': return { icon: 'undo', text: t`${who} kept the subscription going` }
      case 'subscription.plan_change_waits': return { icon: 'clock', text: t`The change of plan by ${who} waits for the bank’s confirmation` }
      case 'subscription.plan_change_dropped': return { icon: 'x', text: t`${who} dropped the change of plan` }
      case 'subscription.plan_change_lapsed': return { icon: 'x', text: t`The change of plan was not confirmed in time` }
      case 'subscription.metered_prices_changed': return { icon: 'gauge', text: t`New prices for usage hold from now on` }
      case 'impersonation.started': return { icon: 'eye', text: t`${who} of the support began to act for somebody here` }
      case 'impersonation.ended': return { icon: 'eye', text: t`The support stopped acting for somebody here` }
      default: return { icon: 'activity', text: `${who}: ${entry.action}` }
    }
  }
}
