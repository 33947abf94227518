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

/** A pending or expired invitation. */
export function InvitationRow({ invitation, mfa }: { invitation: Schema<'TeamInvitation'>; mfa: boolean }) {
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
    toast(t`A new invitation was sent to ${email}`)
  }, t`The invitation was not sent`)

  async function revoke() {
    await api.DELETE('/api/v1/tenant/{tenantId}/team/invitations/{invitation}', { params })
    await refresh('/team', '/audit-logs')
    // The link in the mail is permanently invalid, so a new invitation is the only undo.
    toast(t`The invitation for ${email} was revoked`, {
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
      {mfa && <td className="k5" />}
      <td className="k3">
        {invitation.is_expired
          ? <><Status tone="off"><Trans>Invitation expired</Trans></Status><small><Trans>on {end}, does not take a seat</Trans></small></>
          : <><Status tone="wait"><Trans>Invited</Trans></Status><small>{by ? <Trans>by {by} {since}, expires on {end}</Trans> : <Trans>{since}, expires on {end}</Trans>}</small></>}
      </td>
      <td className="acts-cell k4">
        {may('team.invite') && (
          <>
            <Button size="s" busy={resend.busy} onClick={() => resend.run()}><span><Trans>Resend</Trans><span className="sr"> {email}</span></span></Button>
            <More small label={t`More actions for ${email}`}>
              <MenuEntry icon="x" danger onClick={() => setAsking(true)}><Trans>Revoke invitation</Trans></MenuEntry>
            </More>
          </>
        )}
        {resend.problem}
        <Confirm
          open={asking} onClose={() => setAsking(false)} onConfirm={revoke}
          title={<Trans>Revoke the invitation for {email}?</Trans>} action={<Trans>Revoke invitation</Trans>}
        >
          <p><Trans>The link in the email stops working immediately, and the seat becomes available. You can send a new invitation later.</Trans></p>
        </Confirm>
      </td>
    </tr>
  )
}
