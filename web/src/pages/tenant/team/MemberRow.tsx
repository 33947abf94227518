import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { $api, api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useActing, useMay, useMe } from '../../../app/session'
import { Confirm } from '../../../ui/Confirm'
import { MenuEntry, More } from '../../../ui/Menu'
import { Avatar, MfaCell } from '../../../ui/People'
import { toast } from '../../../ui/Toast'
import { useAction } from '../shared/Action'
import { LeaveDialog } from '../shared/LeaveDialog'
import { useHere, useRefresh } from '../shared/reads'
import { useWords } from '../shared/words'

/** The role of a member. Members with permission can change it; it is saved immediately. */
function RoleOf({ member, fixed }: { member: Schema<'TeamMember'>; fixed: boolean }) {
  const { t } = useLingui()
  const words = useWords()
  const here = useHere()
  const refresh = useRefresh()
  const roles = $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/roles', here, { enabled: !fixed }).data?.data ?? []
  async function give(role: Pick<Schema<'TeamRole'>, 'id' | 'name'>) {
    await api.PATCH('/api/v1/tenant/{tenantId}/team/members/{member}/role', {
      params: { path: { ...here.params.path, member: String(member.id) } }, body: { role_id: role.id },
    })
    await refresh('/team', '/roles', '/audit-logs')
  }
  const change = useAction(async (role: Schema<'TeamRole'>) => {
    const before = member.role
    await give(role)
    const name = words.role(role.name)
    toast(t`${member.name} now has the role ${name}`, { label: t`Undo`, run: () => give(before) })
  }, t`The role was not changed`)
  if (fixed) return <span className="role-fixed">{words.role(member.role.name)}</span>
  const known = roles.some((role) => role.id === member.role.id) ? roles : [member.role, ...roles]
  return (
    <>
      <select
        className="select plain dense" aria-label={t`Role of ${member.name}`} disabled={change.busy} aria-busy={change.busy}
        value={change.busy ? change.about?.id : member.role.id}
        onChange={(event) => change.run(known.find((role) => role.id === Number(event.target.value))!)}
      >
        {known.map((role) => <option key={role.id} value={role.id}>{words.role(role.name)}</option>)}
      </select>
      {change.problem}
    </>
  )
}

export function MemberRow({ member, mfa }: { member: Schema<'TeamMember'>; mfa: boolean }) {
  const { t } = useLingui()
  const me = useMe()
  const may = useMay()
  const format = useFormat()
  const here = useHere()
  const refresh = useRefresh()
  const [asking, setAsking] = useState<'remove' | 'leave' | null>(null)
  const self = member.id === me.user.id
  const owner = member.role.name === 'owner'
  const manages = may('team.manage') && !self && !owner
  const leaves = !useActing() && self && !owner

  async function remove() {
    await api.DELETE('/api/v1/tenant/{tenantId}/team/members/{member}', { params: { path: { ...here.params.path, member: String(member.id) } } })
    await refresh('/team', '/roles', '/subscription', '/audit-logs')
    toast(t`${member.name} was removed from the team`)
  }
  return (
    <tr>
      <td className="k1">
        <span className="person">
          <Avatar name={member.name} src={member.avatar} />
          <span><b>{member.name} {self && <span className="faint"><Trans>(you)</Trans></span>}</b><small>{member.email}</small></span>
        </span>
      </td>
      <td className="k2"><RoleOf member={member} fixed={!manages} /></td>
      {mfa && <MfaCell on={member.mfa_enabled} />}
      <td className="k3">{member.joined_at && format.dayWithYear(member.joined_at)}</td>
      <td className="acts-cell k4">
        {(manages || leaves) && (
          <More small label={t`More actions for ${member.name}`}>
            <MenuEntry icon="mail" href={`mailto:${member.email}`}><Trans>Send email</Trans></MenuEntry>
            {manages && <MenuEntry icon="out" danger onClick={() => setAsking('remove')}><Trans>Remove from team</Trans></MenuEntry>}
            {leaves && <MenuEntry icon="out" danger onClick={() => setAsking('leave')}><Trans>Leave team</Trans></MenuEntry>}
          </More>
        )}
        <Confirm
          open={asking === 'remove'} onClose={() => setAsking(null)} onConfirm={remove}
          title={<Trans>Remove {member.name}?</Trans>} action={<Trans>Remove {member.name}</Trans>}
        >
          <p><Trans>{member.name} loses access immediately. Their past activity is kept, and their seat becomes available.</Trans></p>
        </Confirm>
        <LeaveDialog open={asking === 'leave'} onClose={() => setAsking(null)} />
      </td>
    </tr>
  )
}
