import { plural } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { $api, api, ApiError } from '../../../api/client'
import { useMay } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh, useRoles, useSubscription, useTeamStats } from '../shared/reads'
import { useWords } from '../shared/words'
import { useRoleWords } from './permissions'

/** Error codes that belong to the email field. */
const aboutEmail = new Set(['ALREADY_MEMBER', 'ALREADY_INVITED', 'USER_BELONGS_TO_ANOTHER_TENANT'])

function InviteForm({ onClose }: { onClose: () => void }) {
  const { t } = useLingui()
  const words = useWords()
  const inWords = useRoleWords()
  const here = useHere()
  const refresh = useRefresh()
  const [role, setRole] = useState('member')
  const roles = $api.useQuery('get', '/api/v1/tenant/{tenantId}/team/roles', here).data?.data ?? []
  const all = useRoles().data?.data
  const chosen = all?.find((one) => one.name === role)
  const days = [1, 3, 7, 14, 30]
  const subscription = useSubscription().data?.data
  const members = useTeamStats().data?.data.members ?? 0
  const free = (subscription?.quantity ?? 0) - members
  const cost = subscription?.plan.pricing_type !== 'seat' ? null
    : free > 0 ? <Plural value={free} one="# paid seat is available." other="# paid seats are available." /> : <Trans>You will be charged for the seat when they join.</Trans>

  async function invite(values: Values) {
    const email = String(values.email).trim()
    try {
      await api.POST('/api/v1/tenant/{tenantId}/team/invitations', {
        ...here, body: { email, role: String(values.role), expires_in_days: values.expires_in_days ? Number(values.expires_in_days) : undefined },
      })
    } catch (error) {
      if (error instanceof ApiError && aboutEmail.has(error.code ?? '')) {
        throw new ApiError(error.status, error.message, error.code, { email: [error.message] })
      }
      throw error
    }
    await refresh('/team', '/audit-logs')
    toast(t`Invitation sent to ${email}`)
    onClose()
  }
  return (
    <Form onSubmit={invite} className="stack">
      {({ busy }) => (
        <>
          <TextField name="email" type="email" label={t`Email`} autoComplete="off" autoFocus help={<><Trans>They will receive an invitation by email.</Trans> {cost}</>} />
          <SelectField name="role" label={t`Role`} value={role} onChange={(event) => setRole(event.target.value)} help={inWords(role, chosen?.permissions)}>
            {roles.map((one) => <option key={one.id} value={one.name}>{words.role(one.name)}</option>)}
          </SelectField>
          <SelectField name="expires_in_days" label={t`Invitation expires after`} defaultValue="">
            <option value="">{t`Default`}</option>
            {days.map((day) => <option key={day} value={day}>{plural(day, { one: '# day', other: '# days' })}</option>)}
          </SelectField>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Send invitation</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Invites a user by email, or reports that no seat is left. */
export function InviteDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const stats = useTeamStats().data?.data
  const may = useMay()
  const full = stats?.available !== null && stats !== undefined && stats.available <= 0
  const limit = stats?.limit
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Invite member</Trans>}>
      {full
        ? (
            <div className="stack">
              <Note tone="warn" title={<Trans>All {limit} seats are taken</Trans>}>
                <Trans>Remove a member, revoke an invitation, or change to a plan with more seats.</Trans>
              </Note>
              <div className="acts">
                <Button onClick={onClose}><Trans>Close</Trans></Button>
                {may('billing.manage') && <Link className="btn primary" to="/plan"><Trans>View plans</Trans></Link>}
              </div>
            </div>
          )
        : <InviteForm onClose={onClose} />}
    </Dialog>
  )
}
