import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { useTenant } from '../../../app/session'
import type { Schema } from '../../../api/client'

type Permission = Schema<'TenantPermission'>

/** What each permission lets one do, in the order of the matrix. */
export const permissions: [Permission, MessageDescriptor][] = [
  ['billing.manage', msg`Change the plan and pay`],
  ['tenant.update', msg`Change name, address and VAT number`],
  ['team.invite', msg`Invite people`],
  ['team.manage', msg`Change roles and remove people`],
  ['roles.manage', msg`Make and change roles`],
  ['api_keys.manage', msg`Make API keys`],
  ['webhooks.manage', msg`Set up webhooks`],
  ['audit.view', msg`See what everyone did`],
]

/** The same as parts of a sentence. */
const parts: Record<string, MessageDescriptor> = {
  'billing.manage': msg`change the plan and pay`,
  'tenant.update': msg`change name and billing details`,
  'team.invite': msg`invite people`,
  'team.manage': msg`change roles and remove people`,
  'roles.manage': msg`make and change roles`,
  'api_keys.manage': msg`make API keys`,
  'webhooks.manage': msg`set up webhooks`,
  'audit.view': msg`see what everyone did`,
}

/** Returns a sentence about what a role may do. */
export function useRoleWords(): (name: string, held?: readonly Permission[]) => string {
  const { t, i18n } = useLingui()
  const { list } = useFormat()
  const { name: organization } = useTenant()
  return (name, held) => {
    if (name === 'owner') return t`May do everything, also hand over and delete ${organization}.`
    if (name === 'admin') return t`May do everything but hand over and delete ${organization}.`
    if (name === 'member') return t`Works with everything, sees invoices and usage, changes no settings.`
    if (!held) return t`A role of your own.`
    if (held.length === 0) return t`May do what a member may, and nothing else.`
    const able = list(held.map((one) => (parts[one] ? i18n._(parts[one]) : one)))
    return t`Like a member; may also ${able}.`
  }
}
