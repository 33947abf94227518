import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { api, ApiError } from '../../../api/client'
import { lastUsed, rememberUsed, type Challenge, type Factor } from '../../../app/logins'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { useSettings } from '../../../app/session'
import { CodeField } from '../../../parts/factors/CodeField'
import { RecoveryField } from '../../../parts/factors/ConfirmFactors'
import { getCredential, isPromptClosed, supportsPasskeys } from '../../../parts/factors/webauthn'
import { Button } from '../../../ui/Button'
import { Check } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Icon } from '../../../ui/Icon'
import { Note, Problem } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useLoginError } from './failures'
import { Ways } from './Ways'

type View = Factor | 'choose' | 'expired'

interface Props {
  challenge: Challenge
  /** The choice of the first step. */
  remember?: boolean
  /** The first factor was a passkey that did not verify the user. */
  afterPasskey?: boolean
  level?: 'h1' | 'h3'
  onDone: () => Promise<unknown>
  onRestart: () => void
}

/** Returns the factor to begin with: the last one used in this browser, else a passkey, else a code. */
function firstOf(factors: Factor[]): View {
  const last = lastUsed('login-factor') as Factor
  const usable = factors.filter((one) => one !== 'passkey' || supportsPasskeys())
  return usable.find((one) => one === last) ?? (['passkey', 'totp', 'recovery_code'] as const).find((one) => usable.includes(one)) ?? 'choose'
}

/** Reports the recovery codes that are left after one was used, if they are few. */
async function warnOfFewCodes(): Promise<void> {
  const left = (await api.GET('/api/v1/user/factors')).data?.data.recovery_codes?.remaining ?? 0
  if (left < 3) toast(<Trans><b><Plural value={left} one="# recovery code left." other="# recovery codes left." /></b> Generate new codes before you run out.</Trans>)
}

/** Completes a login with a second factor. The other factors are one click away. */
export function SecondFactor({ challenge: { challenge, factors }, remember = true, afterPasskey, level: Heading = 'h1', onDone, onRestart }: Props) {
  const { t } = useLingui()
  const { app_name } = useSettings()
  const loginError = useLoginError()
  const [view, setView] = useState(() => firstOf(factors))
  const [opened, setOpened] = useState(false)
  const [blockedUntil, setBlockedUntil] = useState<number>()
  const passkey = factors.includes('passkey') && supportsPasskeys()
  const show = (to: View, open = false) => {
    setOpened(open)
    setView(to)
  }

  async function complete(factor: Factor, proof: { code?: string; recovery_code?: string; credential?: Record<string, unknown> }, keep?: boolean) {
    const refuse = (status: number, message: string, code?: string) => new ApiError(status, message, code, { [factor === 'totp' ? 'code' : factor]: [message] })
    if (factor !== 'passkey' && !(proof.code ?? proof.recovery_code)?.trim()) throw refuse(422, t`Enter the code.`)
    try {
      await api.POST('/api/v1/auth/mfa', { body: { challenge, ...proof, remember: keep } })
    } catch (error) {
      const code = error instanceof ApiError ? error.code : undefined
      if (code === 'MFA_CHALLENGE_EXPIRED') return setView('expired')
      if (error instanceof ApiError && error.status === 429 && factor !== 'passkey') return setBlockedUntil(now() + (error.retryAfter ?? 60) * 1000)
      if (code !== 'INVALID_MFA_CODE') throw loginError(error)
      const message = factor === 'totp'
        ? t`That code is incorrect or was already used. Enter the code that your app shows now.`
        : t`That code is incorrect or was already used. Enter another one.`
      throw refuse(401, message, code)
    }
    rememberUsed('login-factor', factor === 'recovery_code' && factors.includes('totp') ? 'totp' : factor)
    await onDone()
    if (factor === 'recovery_code') void warnOfFewCodes().catch(() => {})
  }
  const another = <p className="alt"><button type="button" className="as-link" onClick={() => show('choose')}><Trans>Try another way</Trans></button></p>
  const usePasskey = (look?: 'primary') => (
    <Button key="passkey" look={look} size="big" block icon="passkey" onClick={() => { setBlockedUntil(undefined); show('passkey', true) }}><Trans>Use a passkey</Trans></Button>
  )

  if (view === 'expired') {
    return (
      <>
        <Heading><Trans>Sign in again</Trans></Heading>
        <p className="muted"><Trans>This sign-in has expired. For your security, it ends after 5 minutes or 5 incorrect codes.</Trans></p>
        <Button look="primary" size="big" block autoFocus onClick={onRestart}><Trans>Sign in again</Trans></Button>
      </>
    )
  }
  if (blockedUntil !== undefined) return <Blocked {...{ Heading, onRestart }} until={blockedUntil}>{passkey && usePasskey('primary')}</Blocked>
  if (view === 'choose') return <Ways {...{ Heading, factors }} onChoose={(factor) => show(factor, factor === 'passkey')} />
  if (view === 'passkey') return <Passkey {...{ Heading, challenge, opened, another }} onCredential={(credential) => complete('passkey', { credential })} onExpired={() => setView('expired')} />
  if (view === 'recovery_code') {
    return (
      <>
        <Heading><Trans>Enter a recovery code</Trans></Heading>
        <p className="muted"><Trans>Each code works once. Generate new ones when you have few left.</Trans></p>
        <Form key={view} onSubmit={(values) => complete(view, { recovery_code: String(values.recovery_code) })} className="stack">
          {({ busy }) => (
            <>
              <RecoveryField name="recovery_code" autoFocus />
              <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Verify code</Trans></Button>
              {another}
            </>
          )}
        </Form>
      </>
    )
  }
  return (
    <>
      <Heading><Trans>Enter your code</Trans></Heading>
      <p className="muted">{afterPasskey ? <Trans>Confirm with a second factor.</Trans> : <Trans>Open your authenticator app and enter the code for {app_name}.</Trans>}</p>
      <Form key={view} onSubmit={(values: Values) => complete(view, { code: String(values.code) }, values.remember === true)} className="stack">
        {({ busy }) => (
          <>
            <CodeField label={t`6-digit code`} submits="always" clears autoFocus />
            <Check name="remember" defaultChecked={remember}><Trans>Keep me signed in on this device</Trans></Check>
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Verify code</Trans></Button>
            {passkey && usePasskey()}
            {another}
          </>
        )}
      </Form>
    </>
  )
}

/** Shown while codes are blocked for the account. Passkeys still work. */
function Blocked({ Heading, until, onRestart, children }: { Heading: 'h1' | 'h3'; until: number; onRestart: () => void; children: ReactNode }) {
  const format = useFormat()
  const minutes = Math.max(1, Math.ceil((until - now()) / 60_000))
  const time = format.time(new Date(until))
  return (
    <>
      <Heading><Trans>Too many incorrect codes</Trans></Heading>
      <div className="stack">
        <Note tone="warn" role="alert" title={<Plural value={minutes} one="Try again in # minute" other="Try again in # minutes" />}>
          <Trans>For your security, codes are blocked until {time}.</Trans> {children && <Trans>You can still use a passkey.</Trans>}
        </Note>
        {children}
        <p className="alt"><button type="button" className="as-link" onClick={onRestart}><Trans>Back to sign-in</Trans></button></p>
      </div>
    </>
  )
}

/** Asks for a passkey. The prompt of the browser opens after a click, never by itself. */
function Passkey({ Heading, challenge, opened, another, onCredential, onExpired }: {
  Heading: 'h1' | 'h3'; challenge: string; opened: boolean; another: ReactNode
  onCredential: (credential: Record<string, unknown>) => Promise<unknown>; onExpired: () => void
}) {
  const [state, setState] = useState<'ready' | 'open' | 'closed'>('ready')
  const [error, setError] = useState<unknown>()
  const started = useRef(false)

  async function open() {
    setState('open')
    setError(undefined)
    try {
      const options = (await api.POST('/api/v1/auth/mfa/passkey-options', { body: { challenge } })).data!.data
      await onCredential(await getCredential(options))
    } catch (error) {
      if (error instanceof ApiError && error.code === 'MFA_CHALLENGE_EXPIRED') return onExpired()
      setState('closed')
      if (!isPromptClosed(error) && !(error instanceof ApiError && error.status === 401)) setError(error)
    }
  }
  // The click on "Use a passkey" has opened this view.
  useEffect(() => {
    if (!opened || started.current) return
    started.current = true
    void open()
  })
  return (
    <>
      <Heading><Trans>Use your passkey</Trans></Heading>
      <p className="muted"><Trans>Confirm with your fingerprint, face, screen lock or security key.</Trans></p>
      <div className="stack">
        {state === 'open' && (
          <>
            <div className="touch" role="status"><Icon name="passkey" /><span><Trans>Follow the prompt in your browser.</Trans></span></div>
            <Button size="big" block onClick={() => void open()}><Trans>Open the prompt again</Trans></Button>
          </>
        )}
        {state === 'closed' && (error ? <Problem error={error} /> : (
          <Note role="alert" title={<Trans>We couldn’t use your passkey</Trans>}><Trans>The prompt was closed or timed out. Try again or choose another way.</Trans></Note>
        ))}
        {state !== 'open' && (
          <Button look="primary" size="big" block icon="passkey" autoFocus onClick={() => void open()}>
            {state === 'closed' ? <Trans>Try the passkey again</Trans> : <Trans>Use a passkey</Trans>}
          </Button>
        )}
        {another}
      </div>
    </>
  )
}
