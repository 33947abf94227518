import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api } from '../../api/client'
import { useMe } from '../../app/session'
import { Button } from '../../ui/Button'
import { PasswordField, TextField } from '../../ui/Field'
import { Form, type Values } from '../../ui/Form'
import { Note } from '../../ui/Messages'
import { Status } from '../../ui/Status'
import { useAction } from '../tenant/shared/Action'

/** The email address of the account: whether it is verified, and how to change it. */
export function EmailForm() {
  const { t } = useLingui()
  const { user } = useMe()
  const [asked, setAsked] = useState<string>()
  const [changing, setChanging] = useState(false)
  const [sent, setSent] = useState(false)
  const prove = useAction(async () => {
    await api.POST('/api/v1/user/email/verification')
    setSent(true)
  }, t`The email was not sent`)

  async function change(values: Values) {
    const email = String(values.email).trim()
    await api.POST('/api/v1/user/email', { body: { email, current_password: String(values.current_password) || undefined } })
    setAsked(email)
    setChanging(false)
  }
  return (
    <div className="stack form">
      <div className="row">
        <b>{user.email}</b>
        {user.email_verified ? <Status tone="good"><Trans>Verified</Trans></Status> : <Status tone="warn"><Trans>Not verified</Trans></Status>}
      </div>
      {!user.email_verified && (
        sent
          ? <Note icon="mail" role="status" title={<Trans>Check your email</Trans>}><Trans>Open the link in the email to verify your address.</Trans></Note>
          : <div className="acts"><Button busy={prove.busy} onClick={() => prove.run()}><Trans>Send verification link</Trans></Button></div>
      )}
      {asked && (
        <Note icon="mail" role="status" title={<Trans>Check the inbox of {asked}</Trans>}>
          <Trans>If this address is available, we have sent it a link. Until you open the link, sign in with {user.email}.</Trans>
        </Note>
      )}
      {changing
        ? (
            <Form onSubmit={change} className="stack">
              {({ busy }) => (
                <>
                  <TextField name="email" type="email" label={t`New email`} autoComplete="email" autoFocus />
                  <PasswordField name="current_password" label={t`Your password`} autoComplete="current-password" />
                  <div className="acts">
                    <Button type="submit" look="primary" busy={busy}><Trans>Send link to new address</Trans></Button>
                    <Button look="quiet" onClick={() => setChanging(false)}><Trans>Cancel</Trans></Button>
                  </div>
                </>
              )}
            </Form>
          )
        : <div className="acts"><Button onClick={() => setChanging(true)}><Trans>Change email address</Trans></Button></div>}
      {prove.problem}
    </div>
  )
}
