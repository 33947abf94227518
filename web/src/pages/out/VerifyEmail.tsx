import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api } from '../../api/client'
import { Out } from '../../shell/Out'
import { Button, ButtonLink } from '../../ui/Button'
import { PasswordField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'

/**
 * Verifies an address only after a click, because mail scanners open links. A change of the address
 * also requires the account's session or its password.
 */
export default function VerifyEmail() {
  const { t } = useLingui()
  const queries = useQueryClient()
  const { token = '' } = useSearch({ strict: false }) as Record<string, string | undefined>
  const [done, setDone] = useState(false)
  const [asks, setAsks] = useState(false)

  async function confirm(values: Values) {
    try {
      await api.POST('/api/v1/auth/verify-email', { body: { token, current_password: String(values.current_password ?? '') || undefined } })
    } catch (error) {
      if (error instanceof ApiError && error.fields.current_password) setAsks(true)
      throw error
    }
    setDone(true)
    await queries.invalidateQueries()
  }
  return (
    <Out title={t`Verify your email address`}>
      {done
        ? (
          <div role="status">
            <h1><Trans>Your email address is verified</Trans></h1>
            <p className="gap-top"><ButtonLink to="/" look="primary" size="big" block><Trans>Continue</Trans></ButtonLink></p>
          </div>
        )
        : (
          <Form className="stack" onSubmit={confirm}>
            {({ busy }) => (
              <>
                <h1><Trans>Verify your email address</Trans></h1>
                {asks && <PasswordField name="current_password" label={t`Password`} autoComplete="current-password" autoFocus />}
                <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Verify email address</Trans></Button>
                <p className="help center"><Trans>If you did not request this, close this page. Nothing will change.</Trans></p>
              </>
            )}
          </Form>
        )}
    </Out>
  )
}
