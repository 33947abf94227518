import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client'
import { Out } from '../../shell/Out'
import { Button } from '../../ui/Button'
import { TextField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { PasswordsOnly } from './PasswordsOnly'

/** Requests the password reset mail. */
export default function ForgotPassword() {
  const { t } = useLingui()
  const [sent, setSent] = useState<string>()

  async function ask(values: Values) {
    const email = String(values.email)
    await api.POST('/api/v1/auth/forgot-password', { body: { email } })
    setSent(email)
  }
  return (
    <Out title={t`Forgot password`} end={<Link to="/sign-in"><Trans>Sign in</Trans></Link>}>
      <PasswordsOnly>
        {sent
          ? (
            <div role="status">
              <h1><Trans>Check your email</Trans></h1>
              <p className="muted"><Trans>If {sent} has an account, we have sent a link that is valid for one hour. Did not receive it? Check your spam folder or try another address.</Trans></p>
              <p className="gap-top"><Button onClick={() => setSent(undefined)}><Trans>Try another address</Trans></Button></p>
            </div>
          )
          : (
            <>
              <h1><Trans>Set a new password</Trans></h1>
              <Form onSubmit={ask}>
                {({ busy }) => (
                  <>
                    <TextField name="email" label={t`Email`} type="email" autoComplete="username" autoFocus help={t`We will send a link to this address.`} />
                    <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Send link</Trans></Button>
                  </>
                )}
              </Form>
            </>
          )}
      </PasswordsOnly>
    </Out>
  )
}
