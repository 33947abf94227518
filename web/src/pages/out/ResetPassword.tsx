import { Trans, useLingui } from '@lingui/react/macro'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { Out } from '../../shell/Out'
import { Button, ButtonLink } from '../../ui/Button'
import { PasswordField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { PasswordsOnly } from './PasswordsOnly'

/** Sets a new password with the link in a mail. */
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
      <PasswordsOnly>
        {done
          ? (
            <div role="status">
              <h1><Trans>Your new password is saved</Trans></h1>
              <p className="muted"><Trans>You have been signed out on all devices.</Trans></p>
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
                    <PasswordField name="password" label={t`New password`} autoComplete="new-password" autoFocus help={t`Account: ${email}. At least 8 characters.`} />
                    <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Save password</Trans></Button>
                    <p className="help center"><Trans>The link works only once. <Link to="/forgot-password">Request a new link</Link></Trans></p>
                  </>
                )}
              </Form>
            </>
          )}
      </PasswordsOnly>
    </Out>
  )
}
