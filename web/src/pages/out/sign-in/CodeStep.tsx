import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { ApiError } from '../../../api/client'
import { CodeField } from '../../../parts/factors/CodeField'
import { Button } from '../../../ui/Button'
import { Form, type Values } from '../../../ui/Form'
import { logInWithEmailCode, type EmailCodeRequest } from './emailCode'

/** Returns the seconds until a new code can be requested: one a minute. */
function useWait(request: EmailCodeRequest): number {
  const [left, setLeft] = useState(60)
  useEffect(() => {
    const from = Date.now()
    const timer = setInterval(() => setLeft(Math.max(0, 60 - Math.floor((Date.now() - from) / 1000))), 1000)
    return () => clearInterval(timer)
  }, [request])
  return left
}

/** Asks for the code that was mailed to an address. It looks the same without an account. */
export function CodeStep({ email, request, onAgain, onPassword, logIn }: {
  email: string; request: EmailCodeRequest
  onAgain: () => Promise<unknown>
  /** Switches to the password, if passwords are allowed. */
  onPassword?: () => void
  logIn: (attempt: () => Promise<unknown>) => Promise<void>
}) {
  const { t } = useLingui()
  const left = useWait(request)
  const [refused, setRefused] = useState(false)
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`

  async function send(values: Values) {
    try {
      await logIn(() => logInWithEmailCode(request, String(values.code)))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      setRefused(true)
      const message = t`That code is incorrect or has expired. Use the newest email, in the browser that requested it.`
      throw new ApiError(401, message, error.code, { code: [message] })
    }
  }
  const again = <button type="button" className="as-link" onClick={() => void onAgain()}><Trans>Send a new code</Trans></button>
  return (
    <>
      <h1><Trans>Check your email</Trans></h1>
      <p className="muted"><Trans>If there is an account for <b>{email}</b>, we sent it an 8-digit code. It expires in 10 minutes.</Trans></p>
      <Form onSubmit={send}>
        {({ busy }) => (
          <>
            <CodeField label={t`8-digit code`} digits={8} submits="once" autoFocus />
            <Button type="submit" look="primary" size="big" block busy={busy}><Trans>Sign in</Trans></Button>
            <p className="alt">
              {refused
                ? again
                : left > 0
                  ? <Trans>Nothing there? Check spam, or <span className="nowrap">send a new code in {time}.</span></Trans>
                  : <><Trans>Nothing there? Check spam.</Trans> {again}</>}
            </p>
            {onPassword && !refused && <p className="alt"><button type="button" className="as-link" onClick={onPassword}><Trans>Use a password instead</Trans></button></p>}
          </>
        )}
      </Form>
    </>
  )
}
