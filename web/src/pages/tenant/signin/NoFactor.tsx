import { plural } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useRoleName } from '../../../app/roles'
import { CopyButton } from '../../../ui/Copy'
import { Avatar } from '../../../ui/People'
import { Status } from '../../../ui/Status'
import { bound, useSso } from './reads'

/**
 * The members without a second factor, if the caller may see them. from is the day of the
 * requirement, past if it is over.
 */
export function NoFactor({ members, from, past }: { members: Schema<'TeamMember'>[]; from: string | null; past: boolean }) {
  const roleName = useRoleName()
  const sso = useSso().data?.data
  const known = members.filter((one) => one.mfa_enabled !== null)
  const without = known.filter((one) => !one.mfa_enabled)
  const total = known.length
  if (total === 0) return null
  if (without.length === 0) return <div><Status tone="good"><Plural value={total} one="The only member has a second factor" other="All # members have a second factor" /></Status></div>
  const covered = sso?.counts_as_mfa ? bound(without, sso.domains) : []
  return (
    <div>
      <div className="sec-head tight">
        <h3 className="h2">{plural(without.length, { one: `# of ${total} members lacks a second factor`, other: `# of ${total} members lack a second factor` })}</h3>
        <span className="end"><CopyButton text={without.map((one) => one.email).join(', ')}><Trans>Copy email addresses</Trans></CopyButton></span>
      </div>
      <table className="table mid cards nofactor">
        <thead>
          <tr>
            <th scope="col"><Trans>Member</Trans></th>
            <th scope="col"><Trans>Role</Trans></th>
            {from && <th scope="col"><Trans>From {from}</Trans></th>}
          </tr>
        </thead>
        <tbody>
          {without.map((one) => (
            <tr key={one.id}>
              <td className="k1"><span className="person"><Avatar name={one.name} src={one.avatar} /><span><b>{one.name}</b><small>{one.email}</small></span></span></td>
              <td className="k2">{roleName(one.role.name)}</td>
              {from && (
                <td className="k3">
                  {covered.includes(one) ? <Status tone="good"><Trans>Keeps access with SSO</Trans></Status>
                    : <Status tone="warn">{past ? <Trans>No access</Trans> : <Trans>Loses access</Trans>}</Status>}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
