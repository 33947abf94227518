import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { roleWord } from '../../../app/roles'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { AreaField, Check, SelectField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Icon } from '../../../ui/Icon'
import { Read } from '../../../ui/Read'
import { membersQuery } from './reads'
import { fieldError } from './useSaved'

interface Props {
  tenant: Schema<'AdminTenant'>
  /** The selected member; undefined selects the owner. */
  member?: number
  open: boolean
  onClose: () => void
}

/** Starts to act as a member of a tenant, with a reason. The default is to view only. */
export function ActAs(props: Props) {
  const { tenant, open, onClose } = props
  const members = useQuery({ ...membersQuery(tenant.id), enabled: open })
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Act as a member</Trans>}>
      <Read query={members} lines={5}>{(found) => <Body members={found} {...props} />}</Read>
    </Dialog>
  )
}

function Body({ tenant, member, members, onClose }: Props & { members: Schema<'TeamMember'>[] }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const first = members.find((one) => one.id === (member ?? tenant.owner?.id)) ?? members[0]
  const [id, setId] = useState(first?.id)
  const [access, setAccess] = useState<'view' | 'change'>('view')
  const chosen = members.find((one) => one.id === id)
  if (!chosen) return <p className="flat"><Trans>No members yet.</Trans></p>
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        const reason = String(values.reason).trim()
        if (!reason) throw fieldError('reason', t`Enter a reason.`)
        await api.POST('/api/v1/admin/impersonation/start', { body: { tenant_id: tenant.id, user_id: chosen.id, reason, read_only: access === 'view' } })
        queries.clear()
        await navigate({ to: '/' })
      }}
    >
      {({ busy }) => (
        <>
          <p className="flat"><Trans>You see the pages of the member. Your name and reason are recorded in the activity of the tenant.</Trans></p>
          <SelectField name="user_id" label={t`Member`} value={String(id)} onChange={(event) => setId(Number(event.target.value))} autoFocus>
            {members.map((one) => {
              const [name, role] = [one.name, roleWord(one.role.name)]
              return <option key={one.id} value={one.id}>{t`${name}, ${role}`}</option>
            })}
          </SelectField>
          <fieldset>
            <legend className="label"><Trans>Access</Trans></legend>
            <div className="pick">
              <Check type="radio" name="access" value="view" checked={access === 'view'} onChange={() => setAccess('view')} small={<Trans>You can open every page. Nothing can be changed.</Trans>}><Trans>View only</Trans></Check>
              <Check type="radio" name="access" value="change" checked={access === 'change'} onChange={() => setAccess('change')} small={<Trans>You can change everything that the member can, except sign-in, API keys and webhooks.</Trans>}><Trans>Make changes</Trans></Check>
            </div>
          </fieldset>
          <AreaField name="reason" label={t`Reason`} rows={2} maxLength={500} placeholder={t`Ticket number or a short explanation`} help={t`Required. Members with access to the activity can read it.`} />
          <p className="help"><Icon name="clock" /><Trans>The session ends automatically. The remaining time is shown above the page.</Trans></p>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy}><Trans>Act as {chosen.name}</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
