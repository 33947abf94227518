import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Read } from '../../../ui/Read'
import { subscriptionsQuery } from './reads'
import { intervalWord } from './words'

/** Returns the running subscription, otherwise the newest. */
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
      {of.pending_change && <div><dt><Trans>Pending</Trans></dt><dd><Trans>Change to {of.pending_change.plan.name}, after payment</Trans></dd></div>}
    </>
  )
}

/** A tenant's subscription and its price. */
export function MoneyFacts({ of: tenant }: { of: Schema<'AdminTenant'> }) {
  const subscriptions = useQuery(subscriptionsQuery(tenant.id))
  const { plan_name: plan } = tenant
  return (
    <Read query={subscriptions} lines={4}>
      {(all) => {
        const of = currentOf(all)
        return (
          <dl className="dl">
            {of && (of.status !== 'canceled' || !plan) ? <PlanFacts of={of} />
              : <div><dt><Trans>Plan</Trans></dt><dd className={plan ? undefined : 'faint'}>{plan ? <Trans>No subscription. The plan {plan} applies.</Trans> : <Trans>No subscription yet</Trans>}</dd></div>}
          </dl>
        )
      }}
    </Read>
  )
}
