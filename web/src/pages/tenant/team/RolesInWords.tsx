import { Plural, Trans } from '@lingui/react/macro'
import { useMay } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { useRoles } from '../shared/reads'
import { useWords } from '../shared/words'
import { useRoleWords } from './permissions'

/** Each role with a sentence about what it may do; the matrix is a page of its own. */
export function RolesInWords() {
  const may = useMay()
  const words = useWords()
  const inWords = useRoleWords()
  const roles = useRoles()
  return (
    <Section
      title={<Trans>Roles</Trans>} lead={<Trans>What a role may do. Owner, Admin and Member are fixed; you can make as many others as you need.</Trans>}
      end={may('roles.manage') && <ButtonLink size="s" to="/team/roles"><Trans>Compare and change roles</Trans></ButtonLink>}
    >
      <Read query={roles}>
        {({ data }) => (
          <dl className="dl roles">
            {data.map((role) => (
              <div key={role.id}>
                <dt>{words.role(role.name)}</dt>
                <dd>{inWords(role.name, role.permissions)} <span className="faint"><Plural value={role.users_count} one="# person" other="# people" /></span></dd>
              </div>
            ))}
          </dl>
        )}
      </Read>
    </Section>
  )
}
