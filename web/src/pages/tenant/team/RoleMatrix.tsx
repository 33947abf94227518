import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import type { Schema } from '../../../api/client'
import { useMay } from '../../../app/session'
import { Icon } from '../../../ui/Icon'
import { useWords } from '../shared/words'
import { permissions } from './permissions'
import { RoleMenu } from './RoleMenu'
import { SaveRoles } from './SaveRoles'

type Role = Schema<'TenantRole'>
type Permission = Schema<'TenantPermission'>

/** Whether a role has a permission, with a check box if it can be changed. */
function Cell({ role, name, label, held, editable, onToggle }: {
  role: Role; name: string; label: string; held: boolean; editable: boolean; onToggle: () => void
}) {
  const { t } = useLingui()
  return (
    <td data-l={name} className={role.is_builtin ? undefined : 'edit'}>
      {role.is_builtin
        ? held ? <><Icon name="check" /><span className="sr">{t`yes`}</span></> : <span className="nope">–<span className="sr">{t`no`}</span></span>
        : <label className="check"><input type="checkbox" checked={held} disabled={!editable} onChange={onToggle} aria-label={`${name}: ${label}`} /></label>}
    </td>
  )
}

/** A role's name with its number of members, and a menu for custom roles. */
function RoleHead({ role }: { role: Role }) {
  const words = useWords()
  const people = plural(role.users_count, { one: '# member', other: '# members' })
  return (
    <th scope="col" className={role.is_builtin ? undefined : 'edit'}>
      {words.role(role.name)}
      <small>{people}</small>
      {!role.is_builtin && <RoleMenu role={role} />}
    </th>
  )
}

/** The matrix of roles and permissions. Changes are kept until they are saved. */
export function RoleMatrix({ roles }: { roles: Role[] }) {
  const { t, i18n } = useLingui()
  const words = useWords()
  const may = useMay()
  const [drafts, setDrafts] = useState<Record<number, Permission[]>>({})
  const heldBy = (role: Role) => drafts[role.id] ?? role.permissions
  const changed = roles.filter((role) => drafts[role.id] && [...drafts[role.id]!].sort().join() !== [...role.permissions].sort().join())

  function toggle(role: Role, permission: Permission) {
    const held = heldBy(role)
    setDrafts({ ...drafts, [role.id]: held.includes(permission) ? held.filter((one) => one !== permission) : [...held, permission] })
  }
  const yes = <><Icon name="check" /><span className="sr">{t`yes`}</span></>
  const no = <span className="nope">–<span className="sr">{t`no`}</span></span>
  return (
    <>
      <div className="matrix-box">
        <table className="matrix">
          <thead>
            <tr>
              <th scope="col"><span className="sr"><Trans>Permission</Trans></span></th>
              {roles.map((role) => <RoleHead key={role.id} role={role} />)}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row"><Trans>Use all features, view invoices and usage</Trans></th>
              {roles.map((role) => <td key={role.id} data-l={words.role(role.name)} className={role.is_builtin ? undefined : 'edit'}>{yes}</td>)}
            </tr>
            {permissions.map(([permission, label]) => (
              <tr key={permission}>
                <th scope="row">{i18n._(label)} <code>{permission}</code></th>
                {roles.map((role) => (
                  <Cell
                    key={role.id} role={role} name={words.role(role.name)} label={i18n._(label)} held={heldBy(role).includes(permission)}
                    // Members can neither grant nor remove permissions that they do not have.
                    editable={may('roles.manage') && may(permission)} onToggle={() => toggle(role, permission)}
                  />
                ))}
              </tr>
            ))}
            <tr>
              <th scope="row"><Trans>Transfer or delete the organization</Trans></th>
              {roles.map((role) => (
                <td key={role.id} data-l={words.role(role.name)} className={role.is_builtin ? undefined : 'edit'}>{role.is_builtin && role.name === 'owner' ? yes : no}</td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
      {changed.length > 0 && <SaveRoles changed={changed.map((role) => ({ role, permissions: heldBy(role) }))} onDone={() => setDrafts({})} />}
    </>
  )
}
