import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { nextBill } from '../../../parts/bill'
import { sumsOf } from '../shared/bill'
import { useCredit, useOpenInvoices } from '../shared/reads'
import { useWords } from '../shared/words'
import { useDiscountWords } from '../../../parts/PromotionCode'

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
 * The lines of the receipt: the new plan, unused time of the old one, pending items, the total and
 * the next invoice.
 */
export function Figures({ plan, seats, subscription, preview }: {
  plan: Schema<'OfferedPlan'>; seats: number; subscription: Schema<'Subscription'> | null; preview?: Schema<'ChangePreview'>
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
    return (
      <dl>
        <Figure label={plan.name} small={subscription.custom_price ? <>{times} <Trans>Agreed price</Trans></> : times} amount={<Trans>{regular} {each}</Trans>} />
        {subscription.discount && <Figure label={subscription.discount.code} small={discountWords(subscription.discount)} amount={bill.discount > 0 && money(-bill.discount)} />}
        {sumsOf(open.filter((one) => one.payment_action)).map((one) => <Figure key={one.currency} label={<Trans>Due now</Trans>} amount={format.sum(one)} />)}
        {!subscription.cancel_at && <NextBill at={format.day(bill.at)} total={bill.total} due={bill.charged} currency={currency} />}
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
  const days = breakdown.method === 'psp_preview' && <Trans>{left} of {total} days left</Trans>
  return (
    <dl>
      <Figure label={plan.name} small={times || days} amount={money(forNew)} />
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
