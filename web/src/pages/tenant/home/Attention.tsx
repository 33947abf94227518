import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { ButtonAnchor, ButtonLink } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { OpenInvoice } from '../invoices/OpenInvoice'
import { PendingChange } from '../plan/PendingChange'
import { useWords } from '../shared/words'
import type { Gauge } from './meters'

/** A meter that is at its limit, or will be before it starts again. */
function NearLimit({ gauge }: { gauge: Gauge }) {
  const words = useWords()
  const format = useFormat()
  const may = useMay()
  if (gauge.limit === null) return null
  const used = format.number(gauge.used)
  const limit = words.quantity(gauge.limit, gauge.unit)
  const full = gauge.used >= gauge.limit
  const day = gauge.reached && format.day(gauge.reached)
  const forecast = gauge.forecast === undefined ? '' : format.number(gauge.forecast)
  const title = full ? <Trans>{gauge.name}: the limit is reached</Trans> : day ? <Trans>{gauge.name}: the limit is reached around {day}</Trans> : <Trans>{gauge.name}: the limit is near</Trans>
  return (
    <Note
      tone={full && gauge.hard ? 'bad' : 'warn'} title={title} role="status"
      actions={may('billing.manage') && <ButtonLink to="/plan" look="primary"><Trans>See larger plans</Trans></ButtonLink>}
    >
      <Trans>{used} of {limit} are used.</Trans>{' '}
      {!full && day && <Trans>At today’s pace it comes to about {forecast}.</Trans>}{' '}
      {gauge.hard ? <Trans>What goes beyond the limit is refused until usage starts again.</Trans> : <Trans>Nothing is refused beyond the limit.</Trans>}
    </Note>
  )
}

/** What somebody has to do something about, the most urgent first. */
export function Attention({ subscription, invoices, gauges }: {
  subscription: Schema<'Subscription'> | null; invoices: Schema<'Invoice'>[]; gauges: Gauge[]
}) {
  const near = gauges.filter((one) => one.limit !== null && (one.reached || one.used >= 0.8 * one.limit)).slice(0, 2)
  const unfinished = subscription?.status === 'incomplete' && invoices.length === 0 ? subscription.payment_action : null
  if (!near.length && !unfinished && !invoices.length && !subscription?.pending_change) return null
  return (
    <div className="stack attention">
      {invoices.map((invoice) => <OpenInvoice key={invoice.id} invoice={invoice} />)}
      {unfinished && (
        <Note tone="bad" title={<Trans>The payment is not finished</Trans>} actions={<ButtonAnchor look="primary" href={unfinished.url}><Trans>Finish the payment</Trans></ButtonAnchor>}>
          <Trans>The subscription begins as soon as your bank has confirmed it.</Trans>
        </Note>
      )}
      {subscription?.pending_change && <PendingChange change={subscription.pending_change} />}
      {near.map((gauge) => <NearLimit key={gauge.code} gauge={gauge} />)}
    </div>
  )
}
