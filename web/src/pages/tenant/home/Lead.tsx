import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { $api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay, useTenant } from '../../../app/session'
import { ButtonLink } from '../../../ui/Button'
import { nextBill, regularPrice } from '../../../parts/bill'
import { scheduledOf } from '../../../parts/scheduled'
import { asksForCard } from '../plan/AddCard'
import { splitOpen, sumsOf } from '../shared/bill'
import { useMethodWords } from '../shared/method'
import { useCredit, useDefaultPlan, useHere, useLastInvoices, usePaymentMethod, useTeamStats } from '../shared/reads'
import { useWords } from '../shared/words'

/** A tenant without a subscription: on the default plan, new, or with a plan before. */
function NoPlan({ calm }: { calm: boolean }) {
  const tenant = useTenant()
  const may = useMay()
  const former = (useLastInvoices().data?.meta.total ?? 0) > 0
  const standard = useDefaultPlan().data?.name
  return (
    <div className="lead">
      <h1>{standard ? <Trans>{tenant.name} is on {standard}</Trans> : former ? <Trans>{tenant.name} has no plan at the moment</Trans> : <Trans>{tenant.name} has no plan yet</Trans>}</h1>
      {may('billing.manage') ? <><p>
        {standard ? <Trans>Choose another plan for higher limits and more features.</Trans> : former
          ? <Trans>Your data, your team and your invoices are still here. Choose a plan to continue.</Trans>
          : <Trans>Choose a plan to get started. You will see the price before you are charged.</Trans>}
      </p>
      <div className="acts"><ButtonLink to="/plan" look={calm ? 'plain' : 'primary'}><Trans>View plans</Trans></ButtonLink></div></>
        : !standard && <p><Trans>Ask an admin or the owner of your organization.</Trans></p>}
    </div>
  )
}

/** The plan and the next payment in one sentence, and an explanation of the amount. */
export function Lead({ subscription, open }: { subscription: Schema<'Subscription'> | null; open: Schema<'Invoice'>[] }) {
  const here = useHere()
  const may = useMay()
  const mayChange = may('billing.manage')
  const words = useWords()
  const format = useFormat()
  const usagePlan = subscription?.plan.pricing_type === 'usage'
  const estimate = $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage/cost-estimate', here, { enabled: usagePlan })
  const credit = useCredit().data?.data.balance
  const members = useTeamStats().data?.data.members ?? 0
  const method = usePaymentMethod().data?.data
  const methodWords = useMethodWords()
  if (!subscription) return <NoPlan calm={open.length > 0} />

  const { currency, plan, quantity } = subscription
  const money = (cents: number) => format.money(cents, currency)
  const what = words.planWithSeats(plan.name, plan.pricing_type, quantity)
  const regular = regularPrice(subscription)
  const usage = estimate.data?.data.total_amount_cents ?? 0
  const bill = nextBill(subscription, usage, credit)
  const price = money(subscription.price_cents)
  const each = words.each({ ...subscription, pricing_type: plan.pricing_type })
  const total = money(bill.total)
  const applied = money(bill.applied ?? 0)
  const base = money(regular)
  const extra = money(usage)
  const renewal = format.day(bill.at)
  const { due, inProgress } = splitOpen(open)
  const sums = (invoices: Schema<'Invoice'>[]) => format.list(sumsOf(invoices).map((one) => format.sum(one)))
  const runs = subscription.status === 'active' || subscription.status === 'trialing'
  const seat = plan.pricing_type === 'seat'
  const end = subscription.cancel_at && format.day(subscription.cancel_at)
  const change = scheduledOf(subscription)
  const next = change && words.planAfter(change, plan)
  // A note asks for the card.
  const addsCard = asksForCard(subscription, method)

  // For members who cannot change the plan.
  const regularly = `${base} ${each}.`

  const [sentence, why, pays] = ((): [ReactNode, ReactNode, boolean?] => {
    if (due.length > 0) {
      const owed = sums(due)
      return [
        <Trans key="s">{what} — <span className="nowrap">{owed} is due</span></Trans>,
        !runs ? <Trans key="w">The features of your plan are paused until the payment is made. Your data and your team are kept.</Trans>
          : end ? <Trans key="w">The plan ends on {end}.</Trans> : <Trans key="w">The next regular payment is on {renewal}.</Trans>,
      ]
    }
    if (!runs && inProgress.length > 0) {
      const owed = sums(inProgress)
      return [
        <Trans key="s">{what} — <span className="nowrap">payment of {owed} in progress</span></Trans>,
        <Trans key="w">You do not need to do anything. The plan continues as soon as the payment arrives.</Trans>,
      ]
    }
    if (end) return [<Trans key="s">{what} — <span className="nowrap">ends on {end}</span></Trans>, <Trans key="w">Everything works as before until then, and you will not be charged again.</Trans>]
    if (subscription.status === 'trialing' && subscription.trial_ends_at && (!next || addsCard)) {
      const end = format.day(subscription.trial_ends_at)
      return [
        <Trans key="s">{what} — <span className="nowrap">free until {end}</span></Trans>,
        addsCard ? null : !mayChange ? regularly : seat
          ? <Trans key="w">Then {price} per seat {each}. Cancel before then and you will not be charged.</Trans>
          : <Trans key="w">Then {price} {each}. Cancel before then and you will not be charged.</Trans>,
      ]
    }
    if (subscription.status === 'paused' || subscription.status === 'unpaid') {
      return [<Trans key="s">{what} — <span className="nowrap">paused</span></Trans>, <Trans key="w">It resumes as soon as a payment is received.</Trans>]
    }
    if (next) {
      return [
        <Trans key="s">{what} — {next} from {renewal}</Trans>,
        (bill.applied ?? 0) > 0 ? <Trans key="w">The invoice is {total}; {applied} is paid from your balance.</Trans> : <Trans key="w">The next invoice is {total}.</Trans>,
        bill.charged !== 0,
      ]
    }
    if (regular + usage === 0) return [<Trans key="s">{what} — <span className="nowrap">free</span></Trans>, <Trans key="w">Nothing is charged. Usage resets on {renewal}.</Trans>]
    const because = usagePlan
      ? <Trans key="w">{base} {each} plus {extra} for usage so far.</Trans>
      : seat
        ? (quantity > members
            ? <Trans key="w">{price} per seat {each}. Seats used: {members} of {quantity}.</Trans>
            : <Trans key="w">{price} per seat {each}. Members who join mid-period are prorated.</Trans>)
        : !mayChange ? regularly : <Trans key="w">{price} {each}, until you change or cancel your plan.</Trans>
    // Without the credit, the charged amount is unknown.
    if (bill.charged === undefined || bill.applied === undefined) return [<Trans key="s">{what} — <span className="nowrap">{total} {each}</span></Trans>, because]
    const charged = money(bill.charged)
    if (bill.charged === 0 && bill.applied === 0) return [<Trans key="s">{what} — <span className="nowrap">nothing to pay on {renewal}</span></Trans>, because]
    if (bill.charged === 0) {
      const balance = credit ? format.sum(credit) : ''
      return [<Trans key="s">{what} — <span className="nowrap">nothing to pay on {renewal}</span></Trans>, <Trans key="w">The invoice of {total} is paid from your balance of {balance}.</Trans>]
    }
    return [
      <Trans key="s">{what} — <span className="nowrap">{charged} on {renewal}</span></Trans>,
      bill.applied > 0 ? <>{because} <Trans>The invoice is {total}; {applied} is paid from your balance.</Trans></> : because,
      true,
    ]
  })()
  const how = method && pays && methodWords(method)
  return (
    <div className="lead">
      <h1>{sentence}</h1>
      <p>{why} {bill.discount > 0 && !end && `${subscription.discount?.code}${format.colon} ${money(-bill.discount)}.`} {how && <span className="nowrap"><Trans>Payment method: {how}.</Trans></span>}</p>
      <div className="acts">
        {mayChange && <ButtonLink to="/plan">{subscription.cancel_at ? <Trans>Keep or change plan</Trans> : <Trans>Change plan</Trans>}</ButtonLink>}
        {may('tenant.update') && <ButtonLink to="/settings" hash="billing"><Trans>Billing details</Trans></ButtonLink>}
      </div>
    </div>
  )
}
