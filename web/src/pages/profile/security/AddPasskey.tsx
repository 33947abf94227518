import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { ApiError, type Schema } from '../../../api/client'
import { createPasskey, savePasskey } from '../../../parts/factors/api'
import { ConfirmFactors } from '../../../parts/factors/ConfirmFactors'
import { isPromptClosed, supportsPasskeys } from '../../../parts/factors/webauthn'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form, type Values } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { useReadAgain } from '../useProfile'
import { useDevice } from '../../../parts/device'

/** Adds a passkey: the confirmation, the prompt of the browser, and its name. */
export function AddPasskey({ open, onClose, factors, onCodes }: {
  open: boolean; onClose: () => void; factors: Schema<'Factors'>; onCodes: (codes: string[] | null) => void
}) {
  const { t } = useLingui()
  const readAgain = useReadAgain()
  const device = useDevice()
  const [created, setCreated] = useState<Awaited<ReturnType<typeof createPasskey>>>()
  const drop = () => setCreated(undefined)

  async function create(confirmation: Parameters<typeof createPasskey>[0]) {
    if (!supportsPasskeys()) throw new ApiError(422, t`This browser doesn’t support passkeys. Use an authenticator app.`)
    try {
      setCreated(await createPasskey(confirmation))
    } catch (error) {
      if (!isPromptClosed(error)) throw error
      if ((error as DOMException).name === 'InvalidStateError') throw new ApiError(422, t`This device already has a passkey of your account.`)
      throw new ApiError(422, t`The passkey was not created. Try again.`)
    }
  }
  async function save(values: Values) {
    const { recovery_codes } = await savePasskey(created!, String(values.name).trim())
    drop()
    onCodes(recovery_codes ?? null)
    await readAgain()
    toast(t`The passkey was added`)
  }
  return (
    <>
      <ConfirmFactors open={open} onClose={onClose} factors={factors} title={<Trans>Add a passkey</Trans>} action={<Trans>Continue</Trans>} onConfirm={create}>
        <p><Trans>First confirm that it’s you. Then follow the prompt in your browser.</Trans></p>
      </ConfirmFactors>
      <Dialog open={created !== undefined} onClose={drop} title={<Trans>Passkey created</Trans>}>
        <Form onSubmit={save} className="stack">
          {({ busy }) => (
            <>
              <p className="muted"><Trans>Give it a name that shows where it is.</Trans></p>
              <TextField name="name" label={t`Name`} maxLength={255} defaultValue={device(navigator.userAgent)} autoComplete="off" autoFocus data-autofocus />
              <div className="acts">
                <Button onClick={drop}><Trans>Cancel</Trans></Button>
                <Button type="submit" look="primary" busy={busy}><Trans>Save passkey</Trans></Button>
              </div>
            </>
          )}
        </Form>
      </Dialog>
    </>
  )
}
