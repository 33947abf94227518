import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { Button } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { useNavigate } from '@tanstack/react-router'
import { forgetChoice } from './storage'

/** Polls every two seconds until the provider confirms the payment. */
export function WaitStep() {
  const navigate = useNavigate()
  const [long, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 20_000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status">
      <h1><Trans>Waiting for payment confirmation</Trans></h1>
      <p className="muted"><Trans>This takes a few seconds. You can safely close this page.</Trans></p>
      <p className="gap-top"><span className="spin" aria-hidden="true" /></p>
      {long && (
        <div className="gap-top">
          <Note
            icon="clock" title={<Trans>This is taking longer than usual</Trans>}
            actions={<Button size="s" onClick={() => { forgetChoice(); void navigate({ to: '/onboarding', search: {}, replace: true }) }}><Trans>Choose again</Trans></Button>}
          >
            <Trans>If you paid, you will not be charged again: we are still waiting for the confirmation. If you did not pay, choose a plan again.</Trans>
          </Note>
        </div>
      )}
    </div>
  )
}
