import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useMe } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { PasswordField, TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { Icon } from '../../../ui/Icon'
import { Note } from '../../../ui/Messages'
import { Status } from '../../../ui/Status'
import { useAction } from '../../tenant/shared/Action'
import { PasswordDialog } from './PasswordDialog'

/** The email address and the password of the account, and how to change them. */
export function EmailAndPassword({ factors }: { factors: Schema<'Factors'> }) {
  const { t } = useLingui()
  const { user } = useMe()
  const [open, setOpen] = useState<'email' | 'password'>()
  const [sent, setSent] = useState<React.ReactNode>()
  const close = () => setOpen(undefined)
  const verify = useAction(async () => {
    await api.POST('/api/v1/user/email/verification')
    setSent(<Trans>Open the link in the email to verify your address.</Trans>)
  }, t`The email was not sent`)
  const reset = useAction(async () => {
    await api.POST('/api/v1/auth/forgot-password', { body: { email: user.email } })
    setSent(<Trans>Open the link in the email to {user.email} to set a password.</Trans>)
  }, t`The email was not sent`)
  return (
    <>
      <ul className="items marks">
        <li className="below">
          <Icon name="mail" />
          <div className="what">
            <div className="nm"><b>{user.email}</b>{user.email_verified ? <Status tone="good"><Trans>Verified</Trans></Status> : <Status tone="warn"><Trans>Not verified</Trans></Status>}</div>
            <p>{user.email_verified ? <Trans>Sign-in and security alerts use this address.</Trans> : <Trans>Verify your email before you add a second factor.</Trans>}</p>
          </div>
          <div className="do"><Button size="s" onClick={() => setOpen('email')}><Trans>Change email</Trans></Button></div>
          {!user.email_verified && <div className="more"><Button size="s" busy={verify.busy} onClick={() => verify.run()}><Trans>Send verification email</Trans></Button></div>}
        </li>
        <li className="below">
          <Icon name="lock" />
          <div className="what">
            <div className="nm"><b>{factors.has_password ? <Trans>Password</Trans> : <Trans>No password</Trans>}</b></div>
            <p>{!factors.has_password ? <Trans>You use another sign-in method.</Trans> : factors.mfa_enabled ? <Trans>Used with a second factor.</Trans> : <Trans>Used without a second factor.</Trans>}</p>
          </div>
          <div className="do">
            {factors.has_password
              ? <Button size="s" onClick={() => setOpen('password')}><Trans>Change password</Trans></Button>
              : <Button size="s" busy={reset.busy} onClick={() => reset.run()}><Trans>Set password</Trans></Button>}
          </div>
        </li>
      </ul>
      {sent && <Note icon="mail" role="status" title={<Trans>Check your email</Trans>}>{sent}</Note>}
      <EmailDialog open={open === 'email'} onClose={close} password={factors.has_password} onSent={(email) => setSent(<Trans>We sent a link to {email}. Your address changes when you open it.</Trans>)} />
      <PasswordDialog open={open === 'password'} onClose={close} />
      {verify.problem}
      {reset.problem}
    </>
  )
}

function EmailDialog({ open, onClose, password, onSent }: { open: boolean; onClose: () => void; password: boolean; onSent: (email: string) => void }) {
  const { t } = useLingui()
  const { user } = useMe()

  async function change(values: Values) {
    const email = String(values.email).trim()
    await api.POST('/api/v1/user/email', { body: { email, current_password: String(values.current_password ?? '') || undefined } })
    onSent(email)
    onClose()
  }
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Change email</Trans>}>
      <Form onSubmit={change} className="stack">
        {({ busy }) => (
          <>
            <p className="muted"><Trans>Until you open the link that we send to the new address, sign in with {user.email}.</Trans></p>
            <TextField name="email" type="email" label={t`New email`} autoComplete="email" autoFocus data-autofocus />
            {password && <PasswordField name="current_password" label={t`Current password`} autoComplete="current-password" />}
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Send link</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
