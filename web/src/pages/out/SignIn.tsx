import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { api, ApiError } from '../../api/client'
import { challengeOf, loginMethods, rememberUsed, type Challenge } from '../../app/logins'
import { useSettings, within } from '../../app/session'
import { Out } from '../../shell/Out'
import { Button } from '../../ui/Button'
import { Note, Problem, Skeleton } from '../../ui/Messages'
import { CodeStep } from './sign-in/CodeStep'
import { requestEmailCode, type EmailCodeRequest } from './sign-in/emailCode'
import { EmailStep } from './sign-in/EmailStep'
import { LoginFailure, useLoginError } from './sign-in/failures'
import { PasswordStep } from './sign-in/PasswordStep'
import { SecondFactor } from './sign-in/SecondFactor'
import { SsoStep } from './sign-in/SsoStep'

interface Search {
  next?: string
  step?: string
  /** The result of a delegated login, or of a test of a connection. */
  code?: string
  error?: string
  test?: string
}

/** Takes a value that this page has stored before a login that left it. */
function taken(name: string): string | undefined {
  try {
    const value = sessionStorage.getItem(name) ?? undefined
    sessionStorage.removeItem(name)
    return value
  } catch {
    return undefined
  }
}

function keep(name: string, value: string): void {
  try {
    sessionStorage.setItem(name, value)
  } catch {
    // Without storage the field is empty after a failed login.
  }
}

/** Returns the URL of the SSO of an email's organization, if there is one. */
async function findSso(email: string): Promise<string | undefined> {
  try {
    return (await api.POST('/api/v1/auth/sso', { body: { email } })).data!.data.url
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/**
 * Signs in, in cookie mode, and opens the requested page. The steps have one address, and back
 * returns to the email. The email decides between SSO and a password or code.
 */
export default function SignIn() {
  const { t } = useLingui()
  const settings = useSettings()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const loginError = useLoginError()
  const search = useSearch({ strict: false }) as Search
  const [back] = useState(() => (search.code || search.error ? taken('back') : undefined))
  const next = within(search.next ?? back)
  const methods = loginMethods(settings)
  const [email, setEmail] = useState(() => (search.error && taken('email')) || '')
  const [url, setUrl] = useState<string>()
  const [request, setRequest] = useState<EmailCodeRequest>()
  const [login, setLogin] = useState<{ challenge: Challenge; method: string; remember?: boolean }>()
  const [exchange, setExchange] = useState<{ error?: unknown } | undefined>(search.code ? {} : undefined)
  const exchanged = useRef(false)

  const go = (step?: string, replace = false) => navigate({ to: '/sign-in', search: { next: search.next, step }, replace })

  async function finish(method: string) {
    rememberUsed('login-method', method)
    queries.clear()
    await navigate({ href: next, replace: true })
  }
  async function logIn(method: string, attempt: () => Promise<unknown>, remember?: boolean) {
    try {
      await attempt()
    } catch (error) {
      const challenge = challengeOf(error)
      if (!challenge) throw loginError(error)
      setLogin({ challenge, method, remember })
      await go('factor')
      return
    }
    await finish(method)
  }
  async function sendCode(to: string) {
    setRequest(await requestEmailCode(to).catch((error: unknown) => { throw loginError(error) }))
    await go('code')
  }
  async function onEmail(typed: string) {
    setEmail(typed)
    keep('email', typed)
    const sso = await findSso(typed).catch((error: unknown) => { throw loginError(error) })
    setUrl(sso)
    if (sso) return go('sso')
    if (methods.includes('password')) return go('password')
    if (methods.includes('email_code')) return sendCode(typed)
    throw new ApiError(400, t`This sign-in method is turned off. Choose another one.`)
  }
  // A delegated login without a popup returns with a code, which works once.
  useEffect(() => {
    if (!search.code || exchanged.current) return
    exchanged.current = true
    const code = search.code
    void logIn(taken('provider') ?? 'sso', () => api.POST('/api/v1/auth/oauth/exchange', { body: { code } })).catch((error: unknown) => {
      setExchange({ error })
      void go(undefined, true)
    })
  })

  const restart = () => void go(undefined, true)
  const failure = exchange?.error !== undefined ? <Problem error={exchange.error} /> : search.error ? <LoginFailure error={search.error} /> : undefined
  const start = <EmailStep key="email" {...{ email, methods, next, failure, onEmail }} logIn={logIn} />
  const [title, step]: [string, ReactNode] = (() => {
    if (search.test === 'ok') return [t`Test successful`, <TestPassed key="test" />]
    if (search.code && !exchange?.error) return [t`Signing in`, <Skeleton key="wait" lines={4} />]
    if (search.step === 'factor' && login) {
      return [t`Two-factor authentication`, (
        <SecondFactor
          key={login.challenge.challenge} challenge={login.challenge} remember={login.remember} afterPasskey={login.method === 'passkey'}
          onDone={() => finish(login.method)} onRestart={restart}
        />
      )]
    }
    if (search.step === 'sso' && url) return [t`Sign in`, <SsoStep key="sso" {...{ email, url, next }} onChange={restart} onOther={() => void go(methods.includes('password') ? 'password' : undefined)} />]
    if (search.step === 'password' && email) {
      const others = {
        emailCode: methods.includes('email_code') && <SendCode onSend={() => sendCode(email)} />,
        passkey: methods.includes('passkey') && <Button size="big" block icon="passkey" onClick={restart}><Trans>Sign in with a passkey</Trans></Button>,
      }
      return [t`Sign in`, <PasswordStep key="password" {...{ email, others }} onChange={restart} logIn={(attempt, remember) => logIn('password', attempt, remember)} />]
    }
    if (search.step === 'code' && request) {
      return [t`Sign in`, (
        <CodeStep
          key={request.request_id} {...{ email, request }} onAgain={() => sendCode(email)}
          onPassword={methods.includes('password') ? () => void go('password') : undefined} logIn={(attempt) => logIn('email_code', attempt)}
        />
      )]
    }
    return [t`Sign in`, start]
  })()
  const end = search.step === 'factor' && login
    ? <>{email && <span className="wide-only">{email} · </span>}<button type="button" className="as-link" onClick={restart}><Trans>Use another account</Trans></button></>
    : <Trans>New here? <Link to="/pricing">Create an account</Link></Trans>
  return <Out title={title} end={end}>{step}</Out>
}

/** Mails a code, and shows an error below the button. */
function SendCode({ onSend }: { onSend: () => Promise<unknown> }) {
  const [state, setState] = useState<{ busy?: boolean; error?: unknown }>({})
  return (
    <>
      <Button size="big" block icon="mail" busy={state.busy} onClick={() => { setState({ busy: true }); onSend().catch((error: unknown) => setState({ error })) }}><Trans>Email me a code</Trans></Button>
      {state.error !== undefined && <Problem error={state.error} />}
    </>
  )
}

/** Shown after a test of a connection. The settings page has received the result. */
function TestPassed() {
  return (
    <>
      <h1><Trans>The test was successful</Trans></h1>
      <Note role="status"><Trans>You can close this tab and return to the settings.</Trans></Note>
    </>
  )
}
