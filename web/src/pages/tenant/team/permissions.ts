import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { useTenant } from '../../../app/session'
import type { Schema } from '../../../api/client'

type Permission = Schema<'TenantPermission'>

/** The description of each permission, in the order of the matrix. */
export const permissions: [Permission, MessageDescriptor][] = [
  ['billing.manage', msg`Change the plan and pay`],
  ['tenant.update', msg`Change name, address and VAT number`],
  ['team.invite', msg`Invite members`],
  ['team.manage', msg`Change roles and remove members`],
  ['roles.manage', msg`Create and change roles`],
  ['api_keys.manage', msg`Create API keys`],
  ['webhooks.manage', msg`Set up webhooks`],
  ['audit.view', msg`View the activity of the team`],
  ['sso.manage', msg`Set up domains and single sign-on`],
]

/** The same as parts of a sentence. */
const parts: Record<string, MessageDescriptor> = {
  'billing.manage': msg`change the plan and pay`,
  'tenant.update': msg`change name and billing details`,
  'team.invite': msg`invite members`,
  'team.manage': msg`change roles and remove members`,
  'roles.manage': msg`create and change roles`,
  'api_keys.manage': msg`create API keys`,
  'webhooks.manage': msg`set up webhooks`,
  'audit.view': msg`view the activity of the team`,
  'sso.manage': msg`set up domains and single sign-on`,
}

/** Returns a function that describes the permissions of a role in a sentence. */
export function useRoleWords(): (name: string, held?: readonly Permission[]) => string {
  const { t, i18n } = useLingui()
  const { list } = useFormat()
  const { name: organization } = useTenant()
  return (name, held) => {
    if (name === 'owner') return t`Can do everything, including transferring and deleting ${organization}.`
    if (name === 'admin') return t`Can do everything except transfer or delete ${organization}.`
    if (name === 'member') return t`Can use all features and view invoices and usage, but cannot change settings.`
    if (!held) return t`Custom role.`
    if (held.length === 0) return t`Same permissions as a member.`
    const able = list(held.map((one) => (parts[one] ? i18n._(parts[one]) : one)))
    return t`Like a member, and can also ${able}.`
  }
}
