import { Trans } from '@lingui/react/macro'
import { useState, type ReactNode } from 'react'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { TextField } from './Field'
import { Form } from './Form'

/**
 * Asks before something that cannot be undone: says what is lost and, with name, has the name of
 * it written. The button says what will happen.
 */
export function Confirm({ open, onClose, title, children, action, onConfirm, name, label, safe }: {
  open: boolean; onClose: () => void; title: ReactNode; children: ReactNode
  /** The words of the button. */
  action: ReactNode
  onConfirm: () => Promise<unknown>
  /** What has to be written first. */
  name?: string
  /** The label of the field for it. */
  label?: ReactNode
  /** It can be undone: the button is no warning. */
  safe?: boolean
}) {
  const [written, setWritten] = useState('')
  const close = () => { setWritten(''); onClose() }
  return (
    <Dialog open={open} onClose={close} title={title}>
      <Form className="stack" onSubmit={async () => { await onConfirm(); close() }}>
        {({ busy }) => (
          <>
            <div className="dialog-text">{children}</div>
            {name !== undefined && (
              <TextField name="confirm" label={label ?? <Trans>Write “{name}” to go on</Trans>} value={written} autoComplete="off" onChange={(event) => setWritten(event.target.value)} />
            )}
            <div className="acts">
              <Button onClick={close}><Trans>Leave it</Trans></Button>
              <Button type="submit" look={safe ? 'primary' : 'danger solid'} busy={busy} disabled={name !== undefined && written.trim() !== name.trim()}>{action}</Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
