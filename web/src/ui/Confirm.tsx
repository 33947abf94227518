import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { PasswordField, TextField } from './Field'
import { Form, type Values } from './Form'

/** Returns a name as it is displayed: with composed accents and single spaces. */
const visible = (name: string) => name.normalize('NFC').trim().replace(/\s+/g, ' ')

/**
 * Asks for confirmation of an irreversible action and shows what is lost. With name the user must
 * type the name; with password, the password as well. On an error it stays open and shows the
 * reason.
 */
export function Confirm({ open, onClose, title, action, onConfirm, name, password, calm, children }: {
  open: boolean
  onClose: () => void
  title: ReactNode
  /** The text of the button. */
  action: ReactNode
  onConfirm: (values: Values) => Promise<unknown>
  name?: string
  password?: boolean
  /** The action can be undone. */
  calm?: boolean
  children?: ReactNode
}) {
  const { t } = useLingui()

  async function confirm(values: Values) {
    if (name && visible(String(values.typed_name)) !== visible(name)) {
      const message = t`The name does not match. Type ${name}.`
      throw new ApiError(422, message, undefined, { typed_name: [message] })
    }
    await onConfirm(values)
    onClose()
  }
  return (
    <Dialog open={open} onClose={onClose} title={title}>
      <Form onSubmit={confirm} className="stack">
        {({ busy }) => (
          <>
            <div className="muted">{children}</div>
            {name && <TextField name="typed_name" label={<Trans>To continue, type {name}</Trans>} autoComplete="off" autoFocus />}
            {password && <PasswordField name="current_password" label={t`Your password`} autoComplete="current-password" autoFocus={!name} />}
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look={calm ? 'primary' : 'danger solid'} busy={busy}>{action}</Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
