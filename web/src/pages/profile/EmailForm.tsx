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

/** The address with which one signs in: whether it is proved, and how it is changed. */
export function EmailForm() {
  const { t } = useLingui()
  const { user } = useMe()
  const [asked, setAsked] = useState<string>()
  const [changing, setChanging] = useState(false)
  const [sent, setSent] = useState(false)
  const prove = useAction(async () => {
    await api.POST('/api/v1/user/email/verification')
    setSent(true)
  }, t`The mail was not sent`)

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
        {user.email_verified ? <Status tone="good"><Trans>Proved</Trans></Status> : <Status tone="warn"><Trans>Not proved yet</Trans></Status>}
      </div>
      {!user.email_verified && (
        sent
          ? <Note icon="mail" role="status" title={<Trans>Look into your mailbox</Trans>}><Trans>The link in the mail proves that the address is yours.</Trans></Note>
          : <div className="acts"><Button busy={prove.busy} onClick={() => prove.run()}><Trans>Send a link to prove it</Trans></Button></div>
      )}
      {asked && (
        <Note icon="mail" role="status" title={<Trans>Look into the mailbox of {asked}</Trans>}>
          <Trans>If the address is free, a link is on its way. Until you open it you sign in with {user.email}.</Trans>
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
                    <Button type="submit" look="primary" busy={busy}><Trans>Send a link to the new address</Trans></Button>
                    <Button look="quiet" onClick={() => setChanging(false)}><Trans>Cancel</Trans></Button>
                  </div>
                </>
              )}
            </Form>
          )
        : <div className="acts"><Button onClick={() => setChanging(true)}><Trans>Change the email</Trans></Button></div>}
      {prove.problem}
    </div>
  )
}
