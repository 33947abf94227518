import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../api/client'
import { whenExpired } from '../api/queries'
import { meQuery } from '../app/session'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { PasswordField } from '../ui/Field'
import { Form } from '../ui/Form'

/** Asks for the password when the login has ended while somebody works, so that no form is lost. */
export function Expired() {
  const { t } = useLingui()
  const queries = useQueryClient()
  const [ended, setEnded] = useState(false)
  useEffect(() => whenExpired(() => {
    if (queries.getQueryData(meQuery.queryKey)) setEnded(true)
  }), [queries])
  const email = queries.getQueryData(meQuery.queryKey)?.user.email ?? ''

  async function signIn(values: Record<string, string | boolean>) {
    await api.POST('/api/v1/auth/login', { body: { email, password: String(values.password), remember: true } })
    setEnded(false)
    await queries.invalidateQueries()
  }
  return (
    <Dialog open={ended} onClose={() => {}} title={<Trans>Your login has ended</Trans>}>
      <p><Trans>Sign in again as {email}. What you wrote is kept.</Trans></p>
      <Form onSubmit={signIn} className="stack">
        {({ busy }) => (
          <>
            <PasswordField name="password" label={t`Password`} autoComplete="current-password" autoFocus />
            <div className="acts">
              <Button onClick={() => location.assign(document.baseURI)}><Trans>Somebody else</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Sign in</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
