import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useFilters } from '../../../app/filters'
import type { Schema } from '../../../api/client'
import { Note } from '../../../ui/Messages'
import { useRefresh } from '../shared/reads'

/** How often and for how long the service is asked whether the provider has told of a payment. */
const every = 2000
const atMost = 30

/** What came of a change, or of the provider's page that one comes back from. */
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
        <Note icon="clock" role="status" title={<Trans>Your payment is being confirmed</Trans>}><Trans>This takes a few seconds. You need not wait here.</Trans></Note>
      </div>
    )
  }
  if (checkout === 'left') {
    return <div className="attention"><Note role="status" title={<Trans>Nothing was paid</Trans>}><Trans>You left the payment before its end. Everything is as it was.</Trans></Note></div>
  }
  if (!subscription || (done !== '1' && checkout !== 'paid')) return null
  const { name } = subscription.plan
  return (
    <div className="attention">
      <Note icon="check" role="status" title={<Trans>{name} is your plan now</Trans>} actions={<Link className="btn" to="/invoices"><Trans>See the invoice</Trans></Link>}>
        <Trans>Everything that it contains can be used at once.</Trans>
      </Note>
    </div>
  )
}
