import { Trans } from '@lingui/react/macro'
import { RecoveryCodes } from '../../../parts/factors/RecoveryCodes'
import { Dialog } from '../../../ui/Dialog'

/** New recovery codes. Only its button closes it, so that they are not lost by accident. */
export function CodesDialog({ codes, onClose }: { codes: string[] | null; onClose: () => void }) {
  return (
    <Dialog wide open={codes !== null} onClose={() => {}} title={<Trans>Save your recovery codes</Trans>}>
      {codes && (
        <>
          <p><Trans>We won’t show them again. Keep them somewhere safe, such as a password manager.</Trans></p>
          <RecoveryCodes codes={codes} done={<Trans>Done</Trans>} onDone={onClose} />
        </>
      )}
    </Dialog>
  )
}
