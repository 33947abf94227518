import { Trans } from '@lingui/react/macro'
import { useState, type ComponentProps } from 'react'
import { ConfirmFactors } from '../../../parts/factors/ConfirmFactors'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'

/**
 * Removes a factor after a confirmation. If it is the last factor of a user whose organization
 * requires one, it first shows the consequence.
 */
export function RemoveFactor({ requiring, open, onClose, factors, ...rest }: ComponentProps<typeof ConfirmFactors> & { requiring?: string }) {
  const [warned, setWarned] = useState(false)
  const last = requiring !== undefined && factors.passkeys.length + (factors.totp ? 1 : 0) === 1
  const close = () => {
    setWarned(false)
    onClose()
  }
  return (
    <>
      <Dialog open={open && last && !warned} onClose={close} title={<Trans>Remove your last factor?</Trans>}>
        <p><Trans>{requiring} requires a second factor. You lose access to it until you add one again, and your recovery codes stop working.</Trans></p>
        <div className="acts">
          <Button onClick={close}><Trans>Keep factor</Trans></Button>
          <Button look="danger" onClick={() => setWarned(true)}><Trans>Continue</Trans></Button>
        </div>
      </Dialog>
      <ConfirmFactors {...rest} danger factors={factors} open={open && (!last || warned)} onClose={close} />
    </>
  )
}
