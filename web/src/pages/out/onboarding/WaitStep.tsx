import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { Button } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { useNavigate } from '@tanstack/react-router'

/** Waits for the provider to say that the payment was made; the page asks every two seconds. */
export function WaitStep() {
  const navigate = useNavigate()
  const [long, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 20_000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status">
      <h1><Trans>We wait for the payment to be confirmed</Trans></h1>
      <p className="muted"><Trans>It takes a few seconds. You can close this page; nothing is lost.</Trans></p>
      <p className="gap-top"><span className="spin" aria-hidden="true" /></p>
      {long && (
        <div className="gap-top">
          <Note
            icon="clock" title={<Trans>It takes longer than usual</Trans>}
            actions={<Button size="s" onClick={() => void navigate({ to: '/onboarding', search: {}, replace: true })}><Trans>Choose again</Trans></Button>}
          >
            <Trans>If you paid, you are not charged twice: we go on asking. If you did not, choose again.</Trans>
          </Note>
        </div>
      )}
    </div>
  )
}
