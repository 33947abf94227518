import { Trans } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Problem } from '../../../ui/Messages'

/** Runs an action of a button. Returns a dialog with the error, which the caller renders. */
export function useAction<T = void>(act: (about: T) => Promise<unknown>, title: ReactNode) {
  const sending = useMutation({ mutationFn: act })
  const problem = (
    <Dialog open={sending.isError} onClose={sending.reset} title={title}>
      <div className="stack">
        <Problem error={sending.error} />
        <div className="acts"><Button onClick={sending.reset}><Trans>Close</Trans></Button></div>
      </div>
    </Dialog>
  )
  return { run: sending.mutate, busy: sending.isPending, about: sending.variables, problem }
}
