import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Icon } from '../../../ui/Icon'
import { MenuEntry, More } from '../../../ui/Menu'
import { Status } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'
import { useAction } from '../shared/Action'
import { useHere, useRefresh } from '../shared/reads'
import { useWords } from '../shared/words'

/** Somebody who is invited, or whose invitation has ended. */
export function InvitationRow({ invitation }: { invitation: Schema<'TeamInvitation'> }) {
  const { t } = useLingui()
  const may = useMay()
  const words = useWords()
  const format = useFormat()
  const here = useHere()
  const refresh = useRefresh()
  const [asking, setAsking] = useState(false)
  const params = { path: { ...here.params.path, invitation: invitation.id } }
  const { email } = invitation
  const by = invitation.inviter?.name
  const since = format.ago(invitation.created_at)
  const end = format.day(invitation.expires_at)
  const resend = useAction(async () => {
    await api.POST('/api/v1/tenant/{tenantId}/team/invitations/{invitation}/resend', { params })
    await refresh('/team', '/audit-logs')
    toast(t`${email} has a new mail with a new link`)
  }, t`The invitation was not sent`)

  async function revoke() {
    await api.DELETE('/api/v1/tenant/{tenantId}/team/invitations/{invitation}', { params })
    await refresh('/team', '/audit-logs')
    // The link in the mail is dead for good, so what brings the person back is another mail.
    toast(t`The invitation of ${email} is taken back`, {
      label: t`Invite again`,
      run: async () => {
        await api.POST('/api/v1/tenant/{tenantId}/team/invitations', { ...here, body: { email, role: invitation.role } })
        await refresh('/team', '/audit-logs')
      },
    })
  }
  return (
    <tr>
      <td className="k1">
        <span className="person"><span className="av open" aria-hidden="true"><Icon name="mail" /></span><span><b>{email}</b></span></span>
      </td>
      <td className="k2"><span className="role-fixed">{words.role(invitation.role)}</span></td>
      <td className="k3">
        {invitation.is_expired
          ? <><Status tone="off"><Trans>Invitation ended</Trans></Status><small><Trans>on {end}, takes no place</Trans></small></>
          : <><Status tone="wait"><Trans>Invited</Trans></Status><small>{by ? <Trans>by {by} {since}, ends on {end}</Trans> : <Trans>{since}, ends on {end}</Trans>}</small></>}
      </td>
      <td className="acts-cell k4">
        {may('team.invite') && (
          <>
            <Button size="s" busy={resend.busy} onClick={() => resend.run()}><span><Trans>Send again</Trans><span className="sr"> {email}</span></span></Button>
            <More small label={t`More for ${email}`}>
              <MenuEntry icon="x" danger onClick={() => setAsking(true)}><Trans>Take the invitation back</Trans></MenuEntry>
            </More>
          </>
        )}
        {resend.problem}
        <Confirm
          open={asking} onClose={() => setAsking(false)} onConfirm={revoke}
          title={<Trans>Take the invitation of {email} back?</Trans>} action={<Trans>Take back</Trans>}
        >
          <p><Trans>The link in the mail stops working at once, and the place is free again. You can invite again later.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}
