import { Trans, useLingui } from '@lingui/react/macro'
import { api } from '../../api/client'
import { useMe, useSignOut } from '../../app/session'
import { Out } from '../../shell/Out'
import { Button } from '../../ui/Button'
import { Form } from '../../ui/Form'
import { keepBack } from './Providers'

/** Shown if the organization requires SSO and this login did not use it. */
export default function SsoRequired() {
  const { t } = useLingui()
  const { user } = useMe()
  const signOut = useSignOut()
  async function leave() {
    const { url } = (await api.POST('/api/v1/auth/sso', { body: { email: user.email } })).data!.data
    keepBack(location.pathname + location.search)
    location.assign(url)
    await new Promise(() => {}) // keeps the button busy until the browser leaves the page
  }
  const { email } = user
  const domain = email.split('@').pop()
  return (
    <Out title={t`Sign in with SSO`}>
      <h1><Trans>Your organization requires SSO</Trans></h1>
      <p className="muted"><Trans>You are signed in as {email}. To continue, sign in at {domain}. You’ll come back to this page.</Trans></p>
      <Form onSubmit={leave}>
        {({ busy }) => (
          <>
            <Button type="submit" look="primary" size="big" block busy={busy} autoFocus><Trans>Continue with SSO</Trans></Button>
            <p className="alt"><button type="button" className="as-link" onClick={() => void signOut()}><Trans>Sign out</Trans></button></p>
          </>
        )}
      </Form>
    </Out>
  )
}
