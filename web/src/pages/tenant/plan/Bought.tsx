import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useFilters } from '../../../app/filters'
import type { Schema } from '../../../api/client'
import { Note } from '../../../ui/Messages'
import { useRefresh } from '../shared/reads'

/** The interval and the number of polls for the provider's confirmation of a payment. */
const every = 2000
const atMost = 30

/** The result of a change, or of a visit to the provider's page. */
export function Bought({ subscription }: { subscription: Schema<'Subscription'> | null }) {
  const [{ done, checkout }] = useFilters()
  const refresh = useRefresh()
  const waiting = checkout === 'paid' && (!subscription || subscription.status === 'incomplete')
  useEffect(() => {
    if (!waiting) return
    let count = 0
    const timer = setInterval(() => {
      if (++count > atMost) clearInterval(timer)
      else void refresh('/subscription', '/invoices')
    }, every)
    return () => clearInterval(timer)
  }, [waiting, refresh])

  if (waiting) {
    return (
      <div className="attention">
        <Note icon="clock" role="status" title={<Trans>Your payment is being confirmed</Trans>}><Trans>This takes a few seconds. You do not have to wait here.</Trans></Note>
      </div>
    )
  }
  if (checkout === 'left') {
    return <div className="attention"><Note role="status" title={<Trans>No payment was made</Trans>}><Trans>You left the payment page before you finished. Nothing was changed.</Trans></Note></div>
  }
  if (!subscription || (done !== '1' && checkout !== 'paid')) return null
  const { name } = subscription.plan
  return (
    <div className="attention">
      <Note icon="check" role="status" title={<Trans>You are now on {name}</Trans>} actions={<Link className="btn" to="/invoices"><Trans>View invoice</Trans></Link>}>
        <Trans>All of its features are available now.</Trans>
      </Note>
    </div>
  )
}
