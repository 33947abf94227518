import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useHolds, useMay } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { useRoles } from '../shared/reads'
import { useWords } from '../shared/words'
import { useRoleWords } from './permissions'
import { RoleMenu } from './RoleMenu'

interface Told {
  name: string
  permissions?: Schema<'TenantPermission'>[]
  users_count?: number
}

/** The built-in roles, for members who cannot read the others. */
const builtin: Told[] = [{ name: 'owner' }, { name: 'admin' }, { name: 'member' }]

function List({ roles, menu }: { roles: Told[]; menu?: (name: string) => ReactNode }) {
  const words = useWords()
  const inWords = useRoleWords()
  return (
    <dl className="dl">
      {roles.map((role) => (
        <div key={role.name}>
          <dt>{words.role(role.name)}</dt>
          <dd>
            {inWords(role.name, role.permissions)}{' '}
            {menu?.(role.name)}
            {role.users_count !== undefined && <span className="faint"><Plural value={role.users_count} one="# member" other="# members" /></span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Each role with a sentence about its permissions; on the team page with a link to the matrix. */
export function RolesInWords({ withLink }: { withLink?: boolean }) {
  const holds = useHolds()
  const may = useMay()
  const roles = useRoles()
  return (
    <Section
      title={<Trans>Role permissions</Trans>}
      end={withLink && holds('roles.manage') && <ButtonLink size="s" to="/team/roles">{may('roles.manage') ? <Trans>Compare and change roles</Trans> : <Trans>Roles</Trans>}</ButtonLink>}
    >
      {holds('roles.manage') ? <Read query={roles}>{({ data }) => <List roles={data} menu={withLink ? undefined : (name) => data.filter((one) => one.name === name && !one.is_builtin).map((one) => <span key={one.id} className="only-small"><RoleMenu role={one} /></span>)} />}</Read> : <List roles={builtin} />}
    </Section>
  )
}
