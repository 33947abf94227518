import { Trans, useLingui } from '@lingui/react/macro'
import { api, ApiError } from '../../../api/client'
import { useMe } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { PasswordField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { useReadAgain } from '../useProfile'

/** Changes the password, which ends all other sessions. */
export function PasswordDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const { user } = useMe()
  const readAgain = useReadAgain()

  async function change(values: Values) {
    const password = String(values.password)
    if (password !== values.password_confirmation) {
      const message = t`The passwords do not match.`
      throw new ApiError(422, message, undefined, { password_confirmation: [message] })
    }
    await api.PUT('/api/v1/user/password', {
      body: { current_password: String(values.current_password) || undefined, password, password_confirmation: String(values.password_confirmation) },
    })
    await readAgain()
    toast(t`Your password was changed. All other sessions were ended.`)
    onClose()
  }
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Change password</Trans>}>
      <Form className="stack" onSubmit={change}>
        {({ busy }) => (
          <>
            {/* Password managers need the user name to store the password. */}
            <input type="hidden" autoComplete="username" value={user.email} readOnly />
            <PasswordField name="current_password" label={t`Current password`} autoComplete="current-password" autoFocus data-autofocus />
            <PasswordField name="password" label={t`New password`} autoComplete="new-password" help={<Trans>At least 8 characters. Avoid common passwords.</Trans>} />
            <PasswordField name="password_confirmation" label={t`Confirm new password`} autoComplete="new-password" />
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Change password</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
