import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useEffect, useState, type ReactNode } from 'react'
import { api, ApiError } from '../../../api/client'
import { keepPassword } from '../../../app/logins'
import { Button } from '../../../ui/Button'
import { Check, PasswordField } from '../../../ui/Field'
import { Canceled, Form, type Values } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'

/** The email of the login, readable for password managers. */
export function As({ email, onChange }: { email: string; onChange: () => void }) {
  const { t } = useLingui()
  return (
    <>
      <input className="sr" type="email" name="email" autoComplete="username" value={email} readOnly tabIndex={-1} aria-hidden="true" />
      <div className="as"><span><b>{email}</b></span><button type="button" className="as-link" aria-label={t`Change email`} onClick={onChange}><Trans>Change</Trans></button></div>
    </>
  )
}

/** Explains a wait, after two seconds. */
function Slow() {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 2000)
    return () => clearTimeout(timer)
  }, [])
  return <p className="alt" role="status">{slow && <Trans>This is taking longer than usual.</Trans>}</p>
}

/** Asks for the password of an email. */
export function PasswordStep({ email, others, onChange, logIn }: {
  email: string
  /** Buttons of other login methods: with passkey only after too many attempts. */
  others: { emailCode?: ReactNode; passkey?: ReactNode }
  onChange: () => void
  logIn: (attempt: () => Promise<unknown>, remember: boolean) => Promise<void>
}) {
  const { t } = useLingui()
  const [blocked, setBlocked] = useState<number>()

  async function send(values: Values) {
    const [password, remember] = [String(values.password), values.remember === true]
    try {
      await logIn(async () => {
        keepPassword(password)
        return api.POST('/api/v1/auth/login', { body: { email, password, remember } })
      }, remember)
    } catch (error) {
      if (error instanceof ApiError && error.status === 429) {
        setBlocked(Math.max(1, Math.ceil((error.retryAfter ?? 60) / 60)))
        throw new Canceled()
      }
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const message = t`Incorrect email or password. Try again or reset your password.`
      throw new ApiError(401, message, error.code, { password: [message] })
    }
  }
  return (
    <>
      <h1><Trans>Enter your password</Trans></h1>
      <Form onSubmit={send}>
        {({ busy }) => (
          <>
            <As email={email} onChange={onChange} />
            {blocked !== undefined
              ? (
                <Note tone="warn" role="alert" title={<Trans>Too many attempts</Trans>}>
                  {others.passkey || others.emailCode
                    ? <Plural value={blocked} one="Try again in # minute, or sign in another way." other="Try again in # minutes, or sign in another way." />
                    : <Plural value={blocked} one="Try again in # minute." other="Try again in # minutes." />}
                </Note>
              )
              : (
                <>
                  <PasswordField
                    name="password" label={t`Password`} autoComplete="current-password" required autoFocus readOnly={busy}
                    aside={<Link to="/forgot-password"><Trans>Forgot password?</Trans></Link>}
                    onFocus={(event) => { if (event.currentTarget.getAttribute('aria-invalid')) event.currentTarget.select() }}
                  />
                  <Check name="remember" defaultChecked><Trans>Keep me signed in on this device</Trans></Check>
                  <Button type="submit" look="primary" size="big" block busy={busy}>{busy ? <Trans>Signing in…</Trans> : <Trans>Sign in</Trans>}</Button>
                  {busy && <Slow />}
                </>
              )}
            {blocked !== undefined && others.passkey}
            {others.emailCode}
          </>
        )}
      </Form>
    </>
  )
}
