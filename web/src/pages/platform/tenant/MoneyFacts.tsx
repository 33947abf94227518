import { Plural, Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Copy } from '../../../ui/Copy'
import { Read } from '../../../ui/Read'
import { billingQuery, subscriptionsQuery, type Billing } from './reads'
import { intervalWord } from './words'

/** The subscription that counts: the one that runs, else the newest. */
export function currentOf(all: Schema<'Subscription'>[]): Schema<'Subscription'> | undefined {
  return all.find((one) => one.status !== 'canceled' && one.status !== 'incomplete_expired') ?? all[0]
}

function PlanFacts({ of }: { of: Schema<'Subscription'> }) {
  const format = useFormat()
  const price = format.money(of.price_cents, of.currency)
  const every = intervalWord(of)
  const ends = of.cancel_at ?? (of.cancel_at_period_end ? of.current_period_end : null)
  return (
    <>
      <div>
        <dt><Trans>Plan</Trans></dt>
        <dd>
          <Link to="/platform/catalog/plans/$planId" params={{ planId: of.plan.id }}>{of.plan.name}</Link>
          {', '}{of.quantity > 1 && `${format.number(of.quantity)} × `}{price} {every}
        </dd>
      </div>
      {of.status !== 'canceled' && <div><dt><Trans>Period</Trans></dt><dd>{format.day(of.current_period_start)} – {format.day(of.current_period_end)}</dd></div>}
      {of.trial_ends_at && of.status === 'trialing' && <div><dt><Trans>Trial until</Trans></dt><dd>{format.day(of.trial_ends_at)}</dd></div>}
      {ends && of.status !== 'canceled' && <div><dt><Trans>Ends on</Trans></dt><dd>{format.day(ends)}{of.cancellation_reason && <span className="faint"> “{of.cancellation_reason}”</span>}</dd></div>}
      {of.status === 'canceled' && of.canceled_at && <div><dt><Trans>Ended on</Trans></dt><dd>{format.day(of.canceled_at)}{of.cancellation_reason && <span className="faint"> “{of.cancellation_reason}”</span>}</dd></div>}
      {of.pending_change && <div><dt><Trans>Waits</Trans></dt><dd><Trans>Change to {of.pending_change.plan.name}, until it is paid</Trans></dd></div>}
    </>
  )
}

function Card({ of }: { of: Billing['payment_method'] }) {
  if (!of) return <span className="faint"><Trans>None</Trans></span>
  const kind = of.brand ? of.brand.charAt(0).toUpperCase() + of.brand.slice(1) : of.type
  const until = of.exp_month && of.exp_year ? `${String(of.exp_month).padStart(2, '0')}/${of.exp_year}` : null
  return until ? <Trans>{kind} {of.last4}, until {until}</Trans> : <>{kind} {of.last4}</>
}

function Paid({ of }: { of: Billing }) {
  const format = useFormat()
  const open = of.totals.filter((one) => one.open_count > 0)
  const paid = of.totals.filter((one) => one.paid_count > 0)
  const decline = of.last_decline
  return (
    <>
      {open.map((one) => (
        <div key={one.currency}>
          <dt><Trans>Open</Trans></dt>
          <dd><b>{format.sum(one.open)}</b> <span className="faint">{decline ? <Trans>since {format.day(decline.at)}</Trans> : <Plural value={one.open_count} one="in # invoice" other="in # invoices" />}</span></dd>
        </div>
      ))}
      {decline?.next_attempt_at && <div><dt><Trans>Next attempt</Trans></dt><dd>{format.day(decline.next_attempt_at)}, {format.time(decline.next_attempt_at)}</dd></div>}
      <div>
        <dt><Trans>Paid so far</Trans></dt>
        <dd>
          {paid.length === 0 && <span className="faint"><Trans>Nothing yet</Trans></span>}
          {paid.map((one) => <span key={one.currency} className="block"><Trans>{format.sum(one.paid)} in <Plural value={one.paid_count} one="# invoice" other="# invoices" /></Trans></span>)}
        </dd>
      </div>
      <div><dt><Trans>Pays with</Trans></dt><dd><Card of={of.payment_method} /></dd></div>
      {of.psp_customer_id && <div><dt><Trans>At the provider</Trans></dt><dd><Copy text={of.psp_customer_id} /></dd></div>}
    </>
  )
}

/** What a tenant pays and has paid. */
export function MoneyFacts({ id }: { id: string }) {
  const subscriptions = useQuery(subscriptionsQuery(id))
  const billing = useQuery(billingQuery(id))
  return (
    <Read query={subscriptions} lines={4}>
      {(all) => {
        const of = currentOf(all)
        return (
          <>
            <dl className="dl">
              {of ? <PlanFacts of={of} /> : <div><dt><Trans>Plan</Trans></dt><dd className="faint"><Trans>No subscription yet</Trans></dd></div>}
              {billing.data && <Paid of={billing.data} />}
            </dl>
            {billing.isError && <Read query={billing}>{() => null}</Read>}
          </>
        )
      }}
    </Read>
  )
}
