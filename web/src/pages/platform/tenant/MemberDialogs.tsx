import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { roleWord } from '../../../app/roles'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { Dialog } from '../../../ui/Dialog'
import { PasswordField, SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'

interface Props {
  of: Schema<'TeamMember'>
  tenant: Schema<'AdminTenant'>
  open: boolean
  onClose: () => void
}

function useReload() {
  const queries = useQueryClient()
  return () => Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
}

export function ChangeRole({ of, tenant, open, onClose }: Props) {
  const { t } = useLingui()
  const reload = useReload()
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Role of {of.name}</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          await api.PATCH('/api/v1/admin/tenants/{tenant}/members/{user}/role', { params: { path: { tenant: tenant.id, user: String(of.id) } }, body: { role_id: Number(values.role_id) } })
          await reload()
          onClose()
        }}
      >
        {({ busy }) => (
          <>
            <SelectField name="role_id" label={t`Role`} defaultValue={String(of.role.id)}>
              {tenant.roles.filter((one) => one.name !== 'owner').map((one) => <option key={one.id} value={one.id}>{roleWord(one.name)}</option>)}
            </SelectField>
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Save</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Makes a member the owner in place of the current one. */
export function MakeOwner({ of, tenant, open, onClose }: Props) {
  const reload = useReload()
  return (
    <Confirm
      open={open} onClose={onClose} title={<Trans>Make {of.name} the owner of {tenant.name}?</Trans>} action={<Trans>Make owner</Trans>}
      onConfirm={async () => {
        await api.POST('/api/v1/admin/tenants/{tenant}/transfer-ownership', { params: { path: { tenant: tenant.id } }, body: { user_id: of.id } })
        await reload()
        toast(<Trans>{of.name} is now the owner of {tenant.name}.</Trans>)
      }}
    >
      <p><Trans>The current owner becomes an admin. Both are notified by email. Make sure that the organization wants this: the owner can delete it.</Trans></p>
    </Confirm>
  )
}

/** Changes the name of a member and, if entered, the password. */
export function ChangeMember({ of, tenant, open, onClose }: Props) {
  const { t } = useLingui()
  const may = usePlatformMay()
  const reload = useReload()
  return (
    <Dialog open={open} onClose={onClose} title={of.name}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const name = String(values.name ?? of.name).trim()
          const password = String(values.password ?? '')
          const body = { ...(name !== of.name ? { name } : {}), ...(password ? { password } : {}) }
          if (Object.keys(body).length > 0) await api.PATCH('/api/v1/admin/tenants/{tenant}/members/{user}', { params: { path: { tenant: tenant.id, user: String(of.id) } }, body })
          await reload()
          onClose()
          if (password) toast(<Trans>{of.name} has a new password and was notified by email.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            {may('tenants.manage') && <TextField name="name" label={t`Name`} defaultValue={of.name} autoComplete="off" data-autofocus />}
            {may('users.password') && (
              <PasswordField name="password" label={t`New password`} hint={t`optional`} autoComplete="new-password" help={t`Signs them out everywhere and notifies them by email.`} />
            )}
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Save</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Removes all second factors of a member who lost them. */
export function ResetFactors({ of, tenant, open, onClose }: Props) {
  const reload = useReload()
  return (
    <Confirm
      open={open} onClose={onClose} title={<Trans>Reset the second factors of {of.name}?</Trans>} action={<Trans>Reset factors</Trans>}
      onConfirm={async () => {
        await api.DELETE('/api/v1/admin/tenants/{tenant}/members/{user}/factors', { params: { path: { tenant: tenant.id, user: String(of.id) } } })
        await reload()
        toast(<Trans>The factors of {of.name} were removed.</Trans>)
      }}
    >
      <p><Trans>This removes the authenticator app, passkeys and recovery codes, signs {of.name} out everywhere and sends an email. Make sure that the request comes from this person: their password alone is then enough to sign in.</Trans></p>
    </Confirm>
  )
}

export function RemoveMember({ of, tenant, open, onClose }: Props) {
  const reload = useReload()
  return (
    <Confirm
      open={open} onClose={onClose} title={<Trans>Remove {of.name} from {tenant.name}?</Trans>} action={<Trans>Remove {of.name}</Trans>}
      onConfirm={async () => {
        await api.DELETE('/api/v1/admin/tenants/{tenant}/members/{user}', { params: { path: { tenant: tenant.id, user: String(of.id) } } })
        await reload()
        toast(<Trans>{of.name} was removed from {tenant.name}.</Trans>)
      }}
    >
      <p><Trans>The member loses access immediately, and the seat becomes available. The account is kept and can be invited again.</Trans></p>
    </Confirm>
  )
}
