import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { nextBill } from '../../../parts/bill'
import { scheduledOf, startsPeriod } from '../../../parts/scheduled'
import { sumsOf } from '../shared/bill'
import { useCredit, useOpenInvoices } from '../shared/reads'
import { useWords } from '../shared/words'
import { useDiscountWords } from '../../../parts/discount'

function Figure({ label, small, amount, className }: { label: ReactNode; small?: ReactNode; amount: ReactNode; className?: string }) {
  return <div className={className}><dt>{label}{small && <small>{small}</small>}</dt><dd>{amount}</dd></div>
}

/** The next regular invoice, and the charged amount if the balance pays a part. */
function NextBill({ at, total, due = total, currency }: { at: ReactNode; total: number; due?: number; currency: string }) {
  const format = useFormat()
  return (
    <>
      <Figure className="next" label={<Trans>Next regular invoice</Trans>} small={at} amount={format.money(total, currency)} />
      {due < total && <Figure label={<Trans>From your balance</Trans>} amount={format.money(due - total, currency)} />}
      {due < total && <Figure label={<Trans>Then charged</Trans>} amount={format.money(due, currency)} />}
    </>
  )
}

/**
 * Returns the discount on a charge for the new plan, or undefined if the charge has a discount of an
 * unknown amount. full is the price of a whole period. The preview has the charge after the discount.
 */
function discountOn(charge: number, full: number, plan: Schema<'OfferedPlan'>, subscription: Schema<'Subscription'>, preview: Schema<'ChangePreview'>, code?: string): number | undefined {
  const percent = code ? undefined : subscription.discount?.percent_off
  if (charge <= 0 || (!code && !subscription.discount)) return 0
  // The charge includes the unpaid invoices.
  if (subscription.status === 'past_due') return undefined
  if (startsPeriod(plan, subscription)) return Math.max(0, full - charge)
  // A discount that does not apply to the new plan ends with the change.
  if (!code && preview.next_amount.cents >= full) return 0
  return percent && percent < 100 ? Math.round((charge * percent) / (100 - percent)) : undefined
}

/**
 * The lines of the receipt: the new plan, unused time of the old one, pending items, the total and
 * the next invoice.
 */
export function Figures({ plan, seats, subscription, preview, code }: {
  plan: Schema<'OfferedPlan'>; seats: number; subscription: Schema<'Subscription'> | null; preview?: Schema<'ChangePreview'>
  /** The promotion code that the change redeems. */
  code?: string
}) {
  const words = useWords()
  const format = useFormat()
  const discountWords = useDiscountWords()
  const credit = useCredit().data?.data.balance
  const open = useOpenInvoices().data?.data ?? []
  const current = plan.id === subscription?.plan.id && seats === subscription.quantity
  const price = current ? subscription.price_cents : (plan.prices[0]?.price_cents ?? 0)
  const currency = subscription?.currency ?? plan.prices[0]?.currency ?? 'EUR'
  const money = (cents: number) => format.money(cents, currency)
  const times = seats > 1 && `${format.number(seats)} × ${money(price)}`
  const each = words.each(plan)
  const regular = money(price * seats)

  if (current) {
    const bill = nextBill(subscription, 0, credit)
    const change = scheduledOf(subscription)
    const next = change && words.planAfter(change, subscription.plan)
    const day = format.day(bill.at)
    return (
      <dl>
        <Figure label={plan.name} small={subscription.custom_price ? <>{times} <Trans>Agreed price</Trans></> : times} amount={<Trans>{regular} {each}</Trans>} />
        {subscription.discount && <Figure label={subscription.discount.code} small={discountWords(subscription.discount)} amount={!next && bill.discount > 0 && money(-bill.discount)} />}
        {sumsOf(open.filter((one) => one.payment_action)).map((one) => <Figure key={one.currency} label={<Trans>Due now</Trans>} amount={format.sum(one)} />)}
        {!subscription.cancel_at && <NextBill at={next ? `${next}, ${day}` : day} total={bill.total} due={bill.charged} currency={currency} />}
      </dl>
    )
  }
  if (!preview || !subscription) {
    const trial = plan.trial_days > 0 ? plan.trial_days : 0
    const applied = trial === 0 && credit?.currency === currency ? Math.min(Math.max(0, credit.amount_cents), price * seats) : 0
    return (
      <dl>
        <Figure label={plan.name} small={times} amount={<Trans>{regular} {each}</Trans>} />
        {trial > 0 && <Figure label={<Trans>Trial</Trans>} amount={<Plural value={trial} one="# day" other="# days" />} />}
        {plan.pricing_type === 'usage' && <Figure label={<Trans>Usage</Trans>} amount={<Trans>at the end of each period</Trans>} />}
        {applied > 0 && <Figure label={<Trans>From your balance</Trans>} amount={money(-applied)} />}
        <Figure className="sum" label={trial > 0 ? <Trans>Due after the trial</Trans> : <Trans>Due now</Trans>} amount={money(price * seats - applied)} />
      </dl>
    )
  }
  const { breakdown, charge, credit: unused, net } = preview
  const pending = breakdown.pending.cents
  const left = breakdown.days_remaining
  const total = breakdown.total_days
  // The charge includes the usage so far and the items pending for the next invoice. If their sum
  // is negative, it is part of the credit.
  const back = unused.cents - Math.max(0, -pending)
  const usage = breakdown.usage.cents
  const forNew = charge.cents - Math.max(0, pending) - usage
  const off = discountOn(forNew, price * seats, plan, subscription, preview, code)
  const discount = code ? undefined : subscription.discount
  const days = breakdown.method === 'psp_preview' && <Trans>{left} of {total} days left</Trans>
  // A new period is charged in full, and a trial costs nothing.
  const covers = startsPeriod(plan, subscription) ? <>{times || money(price)} {each}</>
    : times && days && subscription.status !== 'trialing' ? <>{times}, {days}</> : days || times
  return (
    <dl>
      <Figure label={plan.name} small={covers} amount={money(forNew + (off ?? 0))} />
      {off !== 0 && <Figure label={code?.toUpperCase() ?? discount?.code} small={discount ? discountWords(discount) : <Trans>Promotion code</Trans>} amount={off === undefined ? <Trans>already deducted</Trans> : money(-off)} />}
      {back > 0 && <Figure label={<Trans>Credit for {subscription.plan.name}</Trans>} small={days} amount={money(-back)} />}
      {pending !== 0 && <Figure label={<Trans>Pending until the next invoice</Trans>} small={<Trans>seats added or removed</Trans>} amount={money(pending)} />}
      {usage > 0 && <Figure label={<Trans>Usage so far</Trans>} small={<Trans>increases until you change</Trans>} amount={money(usage)} />}
      {net.cents >= 0
        ? (
            <>
              {preview.balance_applied.cents > 0 && <Figure label={<Trans>From your balance</Trans>} amount={money(-preview.balance_applied.cents)} />}
              <Figure className="sum" label={<Trans>Charged today</Trans>} amount={money(preview.due_now.cents)} />
            </>
          )
        : <Figure className="sum" label={<Trans>Credit for your next invoices</Trans>} amount={money(-net.cents)} />}
      {plan.pricing_type === 'usage' && <Figure label={<Trans>Usage</Trans>} amount={<Trans>at the end of each period</Trans>} />}
      {preview.next_billing_at && <NextBill at={format.day(preview.next_billing_at)} total={preview.next_amount.cents} due={preview.next_due.cents} currency={currency} />}
    </dl>
  )
}
