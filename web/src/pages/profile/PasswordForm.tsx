import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, ApiError } from '../../api/client'
import { Button } from '../../ui/Button'
import { PasswordField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { toast } from '../../ui/Toast'
import { useMe } from '../../app/session'
import { useReadAgain } from './useProfile'

export function PasswordForm() {
  const { t } = useLingui()
  const { user } = useMe()
  const readAgain = useReadAgain()
  const [round, setRound] = useState(0)

  async function change(values: Values) {
    const password = String(values.password)
    if (password !== values.password_confirmation) {
      const message = t`The two are not the same.`
      throw new ApiError(422, message, undefined, { password_confirmation: [message] })
    }
    await api.PUT('/api/v1/user/password', {
      body: { current_password: String(values.current_password) || undefined, password, password_confirmation: String(values.password_confirmation) },
    })
    await readAgain()
    toast(t`Your password is changed. All other logins have ended.`)
    setRound(round + 1)
  }
  return (
    <Form key={round} className="stack form" onSubmit={change}>
      {({ busy }) => (
        <>
          {/* For the password managers, which keep a password by its name. */}
          <input type="hidden" autoComplete="username" value={user.email} readOnly />
          <PasswordField name="current_password" label={t`Present password`} autoComplete="current-password" help={<Trans>Leave it empty if you have only signed in through another service.</Trans>} />
          <PasswordField name="password" label={t`New password`} autoComplete="new-password" help={<Trans>At least 8 characters, and none that everybody uses.</Trans>} />
          <PasswordField name="password_confirmation" label={t`New password once more`} autoComplete="new-password" />
          <div className="acts"><Button type="submit" look="primary" busy={busy}><Trans>Change the password</Trans></Button></div>
        </>
      )}
    </Form>
  )
}
