import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { PasswordField, TextField } from './Field'
import { Form, type Values } from './Form'

/** The name as people see it: accents composed, and a run of spaces shown as one. */
const visible = (name: string) => name.normalize('NFC').trim().replace(/\s+/g, ' ')

/**
 * Asks before something that cannot be undone, and says what is lost. With name it has to be
 * typed, with password that is asked for, too. It stays open and says why when it is refused.
 */
export function Confirm({ open, onClose, title, action, onConfirm, name, password, calm, children }: {
  open: boolean
  onClose: () => void
  title: ReactNode
  /** What the button says. */
  action: ReactNode
  onConfirm: (values: Values) => Promise<unknown>
  name?: string
  password?: boolean
  /** Something that can be undone. */
  calm?: boolean
  children?: ReactNode
}) {
  const { t } = useLingui()

  async function confirm(values: Values) {
    if (name && visible(String(values.typed_name)) !== visible(name)) {
      const message = t`This is not the name. Type ${name}.`
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
            {name && <TextField name="typed_name" label={<Trans>To go on, type {name}</Trans>} autoComplete="off" autoFocus />}
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
