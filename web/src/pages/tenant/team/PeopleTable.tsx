import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { Button, ButtonLink } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { InvitationRow } from './InvitationRow'
import { MemberRow } from './MemberRow'

export function PeopleTable({ members, invitations, sought, onInvite }: {
  members: Schema<'TeamMember'>[]; invitations: Schema<'TeamInvitation'>[]; sought?: string; onInvite?: () => void
}) {
  if (members.length + invitations.length === 0 && sought) {
    return <Empty slim icon="team" title={<Trans>No one matches “{sought}”</Trans>} actions={<ButtonLink to="/team"><Trans>Show everyone</Trans></ButtonLink>} />
  }
  if (members.length + invitations.length === 0) {
    return (
      <Empty slim icon="mail" title={<Trans>No pending invitations</Trans>} actions={onInvite && <Button onClick={onInvite}><Trans>Invite members</Trans></Button>}>
        <Trans>People you invite receive an email with a link and are listed here until they join.</Trans>
      </Empty>
    )
  }
  // The service shows the factors to members who manage the team.
  const mfa = members.some((one) => one.mfa_enabled !== null)
  return (
    <table className="table mid cards people last">
      <thead>
        <tr>
          <th scope="col"><Trans>Member</Trans></th>
          <th scope="col"><Trans>Role</Trans></th>
          {mfa && <th scope="col"><Trans>MFA</Trans></th>}
          <th scope="col"><Trans>Since</Trans></th>
          <th scope="col" className="fit"><span className="sr"><Trans>Actions</Trans></span></th>
        </tr>
      </thead>
      <tbody>
        {members.map((member) => <MemberRow key={member.id} member={member} mfa={mfa} />)}
        {invitations.map((invitation) => <InvitationRow key={invitation.id} invitation={invitation} mfa={mfa} />)}
      </tbody>
    </table>
  )
}
