import { Trans, useLingui } from '@lingui/react/macro'
import { api } from '../../../api/client'
import { useMe, useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { PasswordField, SelectField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { useRefresh } from '../shared/reads'

/** Transfers the ownership to another member. */
export function TransferDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const tenant = useTenant()
  const { user } = useMe()
  const refresh = useRefresh()
  const others = tenant.users.filter((one) => one.id !== user.id)

  async function transfer(values: Values) {
    const id = Number(values.user_id)
    await api.POST('/api/v1/tenant/{tenantId}/transfer-ownership', {
      params: { path: { tenantId: tenant.id } }, body: { user_id: id, current_password: String(values.current_password) || undefined },
    })
    await refresh('/team', '/roles', '/audit-logs')
    const name = others.find((one) => one.id === id)?.name ?? ''
    toast(t`${name} is now the owner, and you are an admin`)
    onClose()
  }
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Transfer {tenant.name}</Trans>}>
      <Form onSubmit={transfer} className="stack">
        {({ busy }) => (
          <>
            <p><Trans>The new owner can do everything, including deleting {tenant.name} and removing your access.</Trans></p>
            <SelectField name="user_id" label={t`New owner`} defaultValue="">
              <option value="" disabled>{t`Choose a member`}</option>
              {others.map((one) => <option key={one.id} value={one.id}>{one.name} ({one.email})</option>)}
            </SelectField>
            <PasswordField name="current_password" label={t`Your password`} autoComplete="current-password" />
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="danger solid" busy={busy}><Trans>Transfer ownership</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
