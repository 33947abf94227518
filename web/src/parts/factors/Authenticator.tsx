import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { api, ApiError, type Schema } from '../../api/client'
import { Button, ButtonAnchor } from '../../ui/Button'
import { CopyIcon } from '../../ui/Copy'
import { Form, type Values } from '../../ui/Form'
import { CodeField } from './CodeField'

/**
 * Sets up an authenticator app: the QR code or the secret, then a code of the app. onDone receives
 * the recovery codes if it is the user's first factor.
 */
export function Authenticator({ enrollment, onDone, back }: {
  enrollment: Schema<'TOTPEnrollment'>
  onDone: (recoveryCodes: string[] | null) => void
  /** A button that leaves without changes. */
  back: ReactNode
}) {
  const { t } = useLingui()
  const secret = enrollment.secret.match(/.{1,4}/g)!.join(' ')

  async function confirm(values: Values) {
    try {
      onDone((await api.POST('/api/v1/user/factors/totp/confirm', { body: { code: String(values.code) } })).data!.data.recovery_codes)
    } catch (error) {
      if (!(error instanceof ApiError) || !error.fields.code) throw error
      const message = t`That code is incorrect. Check that your phone sets its time automatically.`
      throw new ApiError(422, message, error.code, { code: [message] })
    }
  }
  return (
    <Form onSubmit={confirm}>
      {({ busy }) => (
        <>
          <ol className="todo-steps">
            <li>
              <b><Trans>Scan the QR code with your app</Trans></b>
              <div className="scan">
                <ButtonAnchor className="only-touch" icon="out" href={enrollment.otpauth_url}><Trans>Open in authenticator app</Trans></ButtonAnchor>
                <img className="qr" src={`data:image/svg+xml,${encodeURIComponent(enrollment.qr_svg)}`} alt={t`QR code for your authenticator app`} />
                <div className="stack tight">
                  <p className="muted t13"><Trans>Can’t scan it? Enter this key in your app.</Trans></p>
                  <div className="well"><span className="totp-key">{secret}</span><CopyIcon text={enrollment.secret} label={t`Copy the key`} /></div>
                </div>
              </div>
            </li>
            <li>
              <b><Trans>Enter the code that your app shows</Trans></b>
              <div><CodeField label={t`6-digit code`} submits="once" autoFocus={matchMedia('(min-width: 721px)').matches} /></div>
            </li>
          </ol>
          <div className="acts">
            <Button type="submit" look="primary" busy={busy}><Trans>Turn on authenticator</Trans></Button>
            {back}
          </div>
        </>
      )}
    </Form>
  )
}
