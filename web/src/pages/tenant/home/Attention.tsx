import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { Button, ButtonLink } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { OpenInvoice } from '../invoices/OpenInvoice'
import { AddCard, asksForCard } from '../plan/AddCard'
import { FirstPayment } from '../plan/FirstPayment'
import { PendingChange } from '../plan/PendingChange'
import { scheduledOf } from '../../../parts/scheduled'
import { ScheduledChange } from '../plan/ScheduledChange'
import { byUrgency } from '../shared/bill'
import { usePaymentMethod } from '../shared/reads'
import { useWords } from '../shared/words'
import type { Gauge } from './meters'

/** A meter that has reached its limit, or will before it resets. */
export function NearLimit({ gauge, onBuy }: { gauge: Gauge; onBuy?: () => void }) {
  const words = useWords()
  const format = useFormat()
  const may = useMay()
  if (gauge.limit === null) return null
  const used = format.number(gauge.used)
  const limit = words.quantity(gauge.limit, gauge.unit)
  const granted = gauge.quota?.grants_remaining ?? 0
  const prepaid = format.number(granted)
  const full = gauge.used >= gauge.limit
  const day = gauge.reached && format.day(gauge.reached)
  const forecast = gauge.forecast === undefined ? '' : format.number(gauge.forecast)
  const title = full && gauge.capped ? <Trans>{gauge.name}: cap of {limit} reached</Trans> : full ? <Trans>{gauge.name}: limit reached</Trans> : day ? <Trans>{gauge.name}: on pace to reach the limit around {day}</Trans> : <Trans>{gauge.name}: limit almost reached</Trans>
  return (
    <Note
      tone={full && gauge.hard && granted <= 0 ? 'bad' : 'warn'} title={title} role="status"
      actions={may('billing.manage') && (gauge.capped
        ? <ButtonLink to="/plan/usage" hash="cap" search={{ meter: gauge.code }} look="primary"><Trans>Change cap</Trans></ButtonLink>
        : onBuy ? <Button onClick={onBuy}><Trans>Buy a pack</Trans></Button>
          : <ButtonLink to="/plan" look="primary"><Trans>View larger plans</Trans></ButtonLink>)}
    >
      <Trans>{used} of {limit} used.</Trans>{' '}
      {granted > 0 && <Trans>Your {prepaid} prepaid units are used next.</Trans>}{' '}
      {!full && day && <Trans>At today’s pace, it will reach about {forecast}.</Trans>}{' '}
      {gauge.hard && granted > 0 ? null : gauge.hard ? <Trans>Requests over the limit are rejected until usage resets.</Trans> : <Trans>Usage over the limit is allowed.</Trans>}
    </Note>
  )
}

/** Problems that require an action, most urgent first. */
export function Attention({ subscription, invoices, gauges }: {
  subscription: Schema<'Subscription'> | null; invoices: Schema<'Invoice'>[]; gauges: Gauge[]
}) {
  const near = gauges.filter((one) => one.limit !== null && (one.reached || one.used >= 0.8 * one.limit)).slice(0, 2)
  const unfinished = subscription?.status === 'incomplete' && invoices.length === 0 ? subscription.payment_action : null
  const addsCard = asksForCard(subscription, usePaymentMethod().data?.data)
  if (!near.length && !unfinished && !addsCard && !invoices.length && !subscription?.pending_change) return null
  return (
    <div className="stack attention">
      {byUrgency(invoices).map((invoice) => <OpenInvoice key={invoice.id} invoice={invoice} />)}
      {unfinished && subscription && <FirstPayment subscription={subscription} />}
      {addsCard && <AddCard subscription={addsCard} />}
      {subscription?.pending_change && (scheduledOf(subscription) ? <ScheduledChange subscription={subscription} /> : <PendingChange change={subscription.pending_change} />)}
      {near.map((gauge) => <NearLimit key={gauge.code} gauge={gauge} />)}
    </div>
  )
}
