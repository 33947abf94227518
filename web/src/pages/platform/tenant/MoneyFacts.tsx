import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Read } from '../../../ui/Read'
import { useDiscountWords } from '../../../parts/discount'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { subscriptionsQuery } from './reads'
import { isEnding } from './ResumeSubscription'
import { costOf, scheduledOf } from '../../../parts/scheduled'
import { intervalWord } from './words'

/** Returns the running subscription, otherwise the newest. */
export function currentOf(all: Schema<'Subscription'>[]): Schema<'Subscription'> | undefined {
  return all.find((one) => one.status !== 'canceled' && one.status !== 'incomplete_expired') ?? all[0]
}

function PlanFacts({ of }: { of: Schema<'Subscription'> }) {
  const { t } = useLingui()
  const ask = useAsk()
  const may = usePlatformMay()
  const format = useFormat()
  const price = format.money(of.price_cents, of.currency)
  const every = intervalWord(of)
  const reason = of.cancellation_reason
  const ends = of.cancel_at ?? (of.cancel_at_period_end ? of.current_period_end : null)
  return (
    <>
      <div>
        <dt><Trans>Plan</Trans></dt>
        <dd>
          <Link to="/platform/catalog/plans/$planId" params={{ planId: of.plan.id }}>{of.plan.name}</Link>
          {', '}{of.quantity > 1 && `${format.number(of.quantity)} × `}{price} {every}
          {of.custom_price && <small className="block"><Trans>Custom price</Trans></small>}
        </dd>
      </div>
      {of.status !== 'canceled' && <div><dt><Trans>Period</Trans></dt><dd>{format.period(of.current_period_start, of.current_period_end)}</dd></div>}
      {of.trial_ends_at && of.status === 'trialing' && <div><dt><Trans>Trial until</Trans></dt><dd>{format.day(of.trial_ends_at)}</dd></div>}
      {ends && of.status !== 'canceled' && (
        <div>
          <dt><Trans>Ends on</Trans></dt>
          <dd>
            {format.day(ends)}{reason && <span className="faint"> <Trans>“{reason}”</Trans></span>}
            {may('subscriptions.manage') && isEnding(of) && <> <button type="button" className="as-link" aria-label={t`Resume subscription`} onClick={() => ask({ dialog: 'resume' })}><Trans>Resume</Trans></button></>}
          </dd>
        </div>
      )}
      {of.status === 'canceled' && of.canceled_at && <div><dt><Trans>Ended on</Trans></dt><dd>{format.day(of.canceled_at)}{of.cancellation_reason && <span className="faint"> “{of.cancellation_reason}”</span>}</dd></div>}
      {of.collection === 'invoice' && (
        <div><dt><Trans>Payment</Trans></dt><dd><Trans>By invoice</Trans><small className="block"><Plural value={of.days_until_due ?? 0} _0="Due on receipt" one="Due within # day" other="Due within # days" /></small></dd></div>
      )}
      {of.purchase_order && <div><dt><Trans>Purchase order</Trans></dt><dd className="break">{of.purchase_order}</dd></div>}
      {of.discount && <Discount of={of.discount} />}
      {of.pending_change && <Pending of={of} />}
    </>
  )
}

/** The discount of a subscription, with its removal. */
function Discount({ of }: { of: Schema<'SubscriptionDiscount'> }) {
  const { t } = useLingui()
  const ask = useAsk()
  const may = usePlatformMay()
  const words = useDiscountWords()
  return (
    <div>
      <dt><Trans>Discount</Trans></dt>
      <dd>
        <span className="mono">{of.code}</span>, {words(of)}
        {may('subscriptions.manage') && <> <button type="button" className="as-link" aria-label={t`Remove the promotion code ${of.code}`} onClick={() => ask({ dialog: 'uncode' })}><Trans>Remove</Trans></button></>}
      </dd>
    </div>
  )
}

/** The change that waits for a payment or for the end of the period. */
function Pending({ of }: { of: Schema<'Subscription'> }) {
  const format = useFormat()
  const change = scheduledOf(of)
  const { name } = of.pending_change!.plan
  if (!change) return <div><dt><Trans>Pending</Trans></dt><dd><Trans>Change to {name}, after payment</Trans></dd></div>
  const { quantity, price } = costOf(change)
  const [day, sum] = [format.day(change.effective_at), format.money(price, of.currency)]
  return <div><dt><Trans>Scheduled</Trans></dt><dd>{name}, {quantity > 1 && `${format.number(quantity)} × `}{sum}<small className="block"><Trans>From {day}</Trans></small></dd></div>
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
