import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { api, ApiError } from '../../../api/client'
import { lastUsed, type LoginMethod } from '../../../app/logins'
import { useSettings } from '../../../app/session'
import { getCredential, isPromptClosed, supportsAutofill, supportsPasskeys } from '../../../parts/factors/webauthn'
import { Button } from '../../../ui/Button'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Note, Problem } from '../../../ui/Messages'
import { LastUsed, Providers } from '../Providers'
import { useLoginError } from './failures'

/** The options of a passkey login are valid for five minutes. */
const renewAfter = 4 * 60_000

type LogIn = (method: string, attempt: () => Promise<unknown>) => Promise<void>

/** Logs in with a passkey: after a click, or from the browser's list in the email field. */
function usePasskey(enabled: boolean, logIn: LogIn) {
  const [state, setState] = useState<{ busy?: boolean; refused?: boolean; error?: unknown }>({})
  const [renewed, setRenewed] = useState(0)
  const autofill = useRef<AbortController>(undefined)
  const send = useRef(logIn)
  useEffect(() => { send.current = logIn })

  async function ask(signal?: AbortSignal) {
    try {
      const { challenge_id, options } = (await api.POST('/api/v1/auth/passkey/options')).data!.data
      if (signal?.aborted) return
      const credential = await getCredential(options, signal)
      setState({ busy: true })
      await send.current('passkey', () => api.POST('/api/v1/auth/passkey', { body: { challenge_id, credential } }))
    } catch (error) {
      if (signal?.aborted) return
      const refused = isPromptClosed(error) || (error instanceof ApiError && error.status === 401)
      // The browser offers passkeys by itself: without success it stays silent.
      if (signal && isPromptClosed(error)) return
      setState(refused ? { refused } : signal ? {} : { error })
      if (!signal) setRenewed((count) => count + 1)
    }
  }
  useEffect(() => {
    if (!enabled) return
    const aborter = new AbortController()
    autofill.current = aborter
    void supportsAutofill().then((offers) => { if (offers && !aborter.signal.aborted) void ask(aborter.signal) })
    const timer = setTimeout(() => setRenewed((count) => count + 1), renewAfter)
    return () => {
      aborter.abort()
      clearTimeout(timer)
    }
  }, [enabled, renewed])
  return {
    ...state,
    open() {
      // The browser allows one request at a time.
      autofill.current?.abort()
      setState({ busy: true })
      void ask()
    },
  }
}

/** Asks for a passkey, a provider or the email. The email decides the next step. */
export function EmailStep({ email, methods, next, failure, logIn, onEmail }: {
  email: string; methods: LoginMethod[]; next: string
  /** Why the previous attempt failed. */
  failure?: ReactNode
  logIn: LogIn
  onEmail: (email: string) => Promise<unknown>
}) {
  const { t } = useLingui()
  const { app_name, oauth_providers } = useSettings()
  const loginError = useLoginError()
  const [exchangeError, setExchangeError] = useState<unknown>()
  const usesPasskeys = methods.includes('passkey') && supportsPasskeys()
  const passkey = usePasskey(usesPasskeys, logIn)
  const note = failure ?? (passkey.refused && (
    <Note role="status" title={<Trans>No passkey was used</Trans>}><Trans>Sign in with your email. You can add a passkey for this device later.</Trans></Note>
  ))
  const passkeyButton = usesPasskeys && (
    <Button size="big" block icon="passkey" busy={passkey.busy} onClick={passkey.open}>
      {passkey.refused ? <Trans>Try a passkey again</Trans> : <Trans>Sign in with a passkey</Trans>}
      {!passkey.refused && lastUsed('login-method') === 'passkey' && <LastUsed />}
    </Button>
  )
  useEffect(() => { if (passkey.refused) document.querySelector<HTMLElement>('input[name=email]')?.focus() }, [passkey.refused])

  async function exchange(code: string, provider: string) {
    setExchangeError(undefined)
    await logIn(provider, () => api.POST('/api/v1/auth/oauth/exchange', { body: { code } })).catch(setExchangeError)
  }
  const providers = methods.includes('oauth') && oauth_providers.length > 0 && <Providers providers={oauth_providers} next={next} onCode={exchange} />
  const others = (passkeyButton || providers) && <>{passkeyButton}{providers}</>
  const error = exchangeError ?? (passkey.error && loginError(passkey.error))
  return (
    <>
      <h1><Trans>Sign in to {app_name}</Trans></h1>
      <Form onSubmit={(values: Values) => onEmail(String(values.email).trim())}>
        {({ busy }) => (
          <>
            {note}
            {error !== undefined && <Problem error={error} />}
            {!note && others}
            {!note && others && <div className="or"><Trans>or with your email</Trans></div>}
            <TextField
              name="email" label={t`Email`} type="email" inputMode="email" autoComplete="username webauthn" autoCapitalize="none" spellCheck={false}
              required autoFocus defaultValue={email}
            />
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Continue</Trans></Button>
            {note && others && <div className="or"><Trans>or</Trans></div>}
            {note && others}
          </>
        )}
      </Form>
    </>
  )
}
