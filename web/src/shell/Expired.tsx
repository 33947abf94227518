import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { api, ApiError } from '../api/client'
import { whenExpired } from '../api/queries'
import { textsOf } from '../app/locale'
import { challengeOf, loginMethods, type Challenge } from '../app/logins'
import { meQuery, useSettings } from '../app/session'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { PasswordField } from '../ui/Field'
import { Form } from '../ui/Form'
import { Problem } from '../ui/Messages'

// Their files are loaded when a session has expired.
const Providers = lazy(async () => ({ default: (await Promise.all([import('../pages/out/Providers'), textsOf('out')]))[0].Providers }))
const SecondFactor = lazy(async () => ({ default: (await Promise.all([import('../pages/out/sign-in/SecondFactor'), textsOf('out')]))[0].SecondFactor }))

function SignInAgain({ onDone }: { onDone: () => void }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  const settings = useSettings()
  const [challenge, setChallenge] = useState<Challenge>()
  const [failure, setFailure] = useState<unknown>()
  const methods = loginMethods(settings)
  const providers = methods.includes('oauth') ? settings.oauth_providers : []
  const [user] = useState(() => queries.getQueryData(meQuery.queryKey)?.user)
  const email = user?.email ?? ''

  async function goOn() {
    const me = (await api.GET('/api/v1/auth/me')).data!
    // The page shows data of another user.
    if (me.user.id !== user?.id) return location.assign(document.baseURI)
    onDone()
    await queries.invalidateQueries()
  }
  async function logIn(attempt: () => Promise<unknown>) {
    try {
      await attempt()
    } catch (error) {
      const needed = challengeOf(error)
      if (!needed) throw error
      return setChallenge(needed)
    }
    await goOn()
  }
  async function signIn(values: Record<string, string | boolean>) {
    try {
      await logIn(() => api.POST('/api/v1/auth/login', { body: { email, password: String(values.password), remember: true } }))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const message = t`Incorrect password.`
      throw new ApiError(401, message, error.code, { password: [message] })
    }
  }
  if (challenge) return <Suspense><SecondFactor challenge={challenge} level="h3" onDone={goOn} onRestart={() => setChallenge(undefined)} /></Suspense>
  return (
    <>
      <p><Trans>Sign in again as {email}. Your changes are kept.</Trans></p>
      <Form onSubmit={signIn} className="stack">
        {({ busy }) => (
          <>
            <PasswordField name="password" label={t`Password`} autoComplete="current-password" autoFocus />
            <div className="acts">
              <Button onClick={() => location.assign(document.baseURI)}><Trans>Use another account</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Sign in</Trans></Button>
            </div>
          </>
        )}
      </Form>
      {providers.length > 0 && <Suspense><div className="stack tight gap-top"><Providers providers={providers} next={location.pathname + location.search} onCode={(code) => logIn(() => api.POST('/api/v1/auth/oauth/exchange', { body: { code } })).catch(setFailure)} /></div></Suspense>}
      {failure !== undefined && <Problem error={failure} />}
    </>
  )
}

/** Asks to sign in again when the session expires during work, so that forms are not lost. */
export function Expired() {
  const queries = useQueryClient()
  const [ended, setEnded] = useState(false)
  useEffect(() => whenExpired(() => {
    if (queries.getQueryData(meQuery.queryKey)) setEnded(true)
  }), [queries])
  return (
    <Dialog open={ended} onClose={() => {}} title={<Trans>Your session has expired</Trans>}>
      {ended && <SignInAgain onDone={() => setEnded(false)} />}
    </Dialog>
  )
}
