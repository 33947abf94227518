import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { roleWord } from '../../../app/roles'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { tenantKey } from './reads'

/** Invites a user to a tenant, as its members can. */
export function InviteDialog({ tenant, open, onClose }: { tenant: Schema<'AdminTenant'>; open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Invite a member to {tenant.name}</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const email = String(values.email).trim()
          await api.POST('/api/v1/admin/tenants/{tenant}/invitations', { params: { path: { tenant: tenant.id } }, body: { email, role: String(values.role) } })
          await queries.invalidateQueries({ queryKey: [...tenantKey(tenant.id), 'invitations'] })
          onClose()
          toast(<Trans>Invitation sent to {email}.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <TextField name="email" type="email" label={t`Email`} autoComplete="off" data-autofocus />
            <SelectField name="role" label={t`Role`} defaultValue="member">
              {tenant.roles.filter((one) => one.name !== 'owner').map((one) => <option key={one.id} value={one.name}>{roleWord(one.name)}</option>)}
            </SelectField>
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Send invitation</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
