import { Trans, useLingui } from '@lingui/react/macro'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { Out } from '../../shell/Out'
import { Button, ButtonLink } from '../../ui/Button'
import { PasswordField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'

/** Sets a new password by the link of a mail. */
export default function ResetPassword() {
  const { t } = useLingui()
  const { token = '', email = '' } = useSearch({ strict: false }) as Record<string, string | undefined>
  const [done, setDone] = useState(false)

  async function save(values: Values) {
    const password = String(values.password)
    await api.POST('/api/v1/auth/reset-password', { body: { token, email, password, password_confirmation: password } })
    setDone(true)
  }
  return (
    <Out title={t`New password`} end={<Link to="/sign-in"><Trans>Sign in</Trans></Link>}>
      {done
        ? (
          <div role="status">
            <h1><Trans>Your new password is set</Trans></h1>
            <p className="muted"><Trans>All logins of before have ended, on every device.</Trans></p>
            <p className="gap-top"><ButtonLink to="/sign-in" look="primary" size="big" block><Trans>Sign in</Trans></ButtonLink></p>
          </div>
        )
        : (
          <>
            <h1><Trans>Set a new password</Trans></h1>
            <Form onSubmit={save}>
              {({ busy }) => (
                <>
                  <input type="hidden" name="email" autoComplete="username" value={email} readOnly />
                  <PasswordField name="password" label={t`New password`} autoComplete="new-password" autoFocus help={t`At least 8 characters. For ${email}.`} />
                  <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Save the password</Trans></Button>
                  <p className="help center"><Trans>The link works once. <Link to="/forgot-password">Ask for another</Link></Trans></p>
                </>
              )}
            </Form>
          </>
        )}
    </Out>
  )
}
