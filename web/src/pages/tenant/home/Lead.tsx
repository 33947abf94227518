import { Trans } from '@lingui/react/macro'
import { $api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay, useTenant } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { useMethodWords } from '../shared/method'
import { useHere, usePaymentMethod } from '../shared/reads'
import { regularPrice, useWords } from '../shared/words'

function NoPlan({ calm }: { calm: boolean }) {
  const tenant = useTenant()
  const may = useMay()
  return (
    <div className="lead">
      <h1><Trans>{tenant.name} has no plan yet</Trans></h1>
      <p><Trans>Choose one to begin. You see what it costs before anything is charged.</Trans></p>
      {may('billing.manage') && <div className="acts"><ButtonLink to="/plan" look={calm ? 'plain' : 'primary'}><Trans>See the plans</Trans></ButtonLink></div>}
    </div>
  )
}

/** The plan and the next payment in one sentence, and below why it is that much. */
export function Lead({ subscription, open }: { subscription: Schema<'Subscription'> | null; open: Schema<'Invoice'>[] }) {
  const here = useHere()
  const may = useMay()
  const words = useWords()
  const format = useFormat()
  const usagePlan = subscription?.plan.pricing_type === 'usage'
  const estimate = $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage/cost-estimate', here, { enabled: usagePlan })
  const method = usePaymentMethod().data?.data
  const methodWords = useMethodWords()
  if (!subscription) return <NoPlan calm={open.length > 0} />

  const { currency, plan } = subscription
  const what = words.planWithSeats(plan.name, plan.pricing_type, subscription.quantity)
  const regular = regularPrice(subscription)
  const usage = estimate.data?.data.total_amount_cents ?? 0
  const price = format.money(subscription.price_cents, currency)
  const each = words.each({ ...subscription, pricing_type: subscription.plan.pricing_type })
  const total = format.money(regular + usage, currency)
  const base = format.money(regular, currency)
  const extra = format.money(usage, currency)
  const renewal = format.day(subscription.current_period_end)
  // An invoice without an action is being paid by a bank debit: nothing of it is due.
  const due = open.filter((one) => one.payment_action !== null).reduce((sum, one) => sum + one.total.amount_cents, 0)
  const owed = format.money(due, open[0]?.total.currency ?? currency)
  const seat = plan.pricing_type === 'seat'

  // Of a payment to come; what is due may have been tried with another one.
  const how = method && due === 0 && !subscription.cancel_at && regular + usage > 0 && methodWords(method)

  const [sentence, why] = (() => {
    if (due > 0) {
      return [
        <Trans key="s">{what} — <span className="nowrap">{owed} is due</span></Trans>,
        subscription.status === 'active'
          ? <Trans key="w">The next regular payment is on {renewal}.</Trans>
          : <Trans key="w">What the plan contains is paused until it is paid. Your data and your team stay as they are.</Trans>,
      ]
    }
    if (subscription.cancel_at) {
      const end = format.day(subscription.cancel_at)
      return [<Trans key="s">{what} — <span className="nowrap">ends on {end}</span></Trans>, <Trans key="w">Nothing is charged any more. Until then everything works as before.</Trans>]
    }
    if (subscription.status === 'trialing' && subscription.trial_ends_at) {
      const end = format.day(subscription.trial_ends_at)
      return [
        <Trans key="s">{what} — <span className="nowrap">free until {end}</span></Trans>,
        seat
          ? <Trans key="w">Then {price} {each} for each person. Until then you can stop without paying.</Trans>
          : <Trans key="w">Then {price} {each}. Until then you can stop without paying.</Trans>,
      ]
    }
    if (subscription.status === 'paused' || subscription.status === 'unpaid') {
      return [<Trans key="s">{what} — <span className="nowrap">paused</span></Trans>, <Trans key="w">It goes on as soon as a payment arrives.</Trans>]
    }
    if (regular + usage === 0) return [<Trans key="s">{what} — <span className="nowrap">free</span></Trans>, <Trans key="w">Nothing is charged. Usage starts again on {renewal}.</Trans>]
    return [
      <Trans key="s">{what} — <span className="nowrap">{total} on {renewal}</span></Trans>,
      usagePlan
        ? <Trans key="w">{base} {each} and {extra} for usage so far.</Trans>
        : seat
          ? <Trans key="w">{price} {each} for each seat. Who joins in between is charged for the days.</Trans>
          : <Trans key="w">{price} {each}, until you change or cancel it.</Trans>,
    ]
  })()
  return (
    <div className="lead">
      <h1>{sentence}</h1>
      <p>{why} {how && <span className="nowrap"><Trans>Paid with {how}.</Trans></span>}</p>
      <div className="acts">
        {may('billing.manage') && <ButtonLink to="/plan">{subscription.cancel_at ? <Trans>Keep or change it</Trans> : <Trans>Change plan</Trans>}</ButtonLink>}
        {may('tenant.update') && <ButtonLink to="/settings" hash="billing"><Trans>Billing details</Trans></ButtonLink>}
      </div>
    </div>
  )
}
