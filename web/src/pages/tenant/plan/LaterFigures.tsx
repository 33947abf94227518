import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useDiscountWords } from '../../../parts/discount'
import { amountOf, difference, rowsOf } from './compare'

function Figure({ label, small, amount, className }: { label: ReactNode; small?: ReactNode; amount: ReactNode; className?: string }) {
  return <div className={className}><dt>{label}{small && <small>{small}</small>}</dt><dd>{amount}</dd></div>
}

/** The features that a smaller plan does not have, or has less of. */
function Losses({ plan, subscription }: { plan: Schema<'OfferedPlan'>; subscription: Schema<'Subscription'> }) {
  const format = useFormat()
  const lost = rowsOf([plan, { ...plan, features: subscription.plan.features }]).flatMap((row) => {
    const change = difference(amountOf(subscription.plan.features, row.code), amountOf(plan.features, row.code))
    return change && !change.gain ? [{ ...row, by: change.by }] : []
  })
  if (lost.length === 0) return null
  return <ul className="losses">{lost.slice(0, 6).map((row) => <li key={row.code}><span>{row.by === undefined ? row.name : `${row.name}: ${format.number(row.by)}`}</span></li>)}</ul>
}

/** The lines of the receipt of a change at the end of the period. Nothing is charged today. */
export function LaterFigures({ plan, seats, subscription, preview }: {
  plan: Schema<'OfferedPlan'>; seats: number; subscription: Schema<'Subscription'>; preview: Schema<'ChangePreview'>
}) {
  const format = useFormat()
  const discountWords = useDiscountWords()
  const { next_amount: next, next_due: due, next_billing_at, due_now } = preview
  const money = (cents: number) => format.money(cents, next.currency)
  const price = plan.id === subscription.plan.id ? subscription.price_cents : (plan.prices[0]?.price_cents ?? 0)
  const day = format.day(next_billing_at ?? subscription.current_period_end)
  const applied = next.cents - due.cents
  const { discount } = subscription
  const off = discount ? price * seats - next.cents : 0
  const what = seats > 1 ? <>{plan.name}, {format.number(seats)} × {money(price)}</> : plan.name
  return (
    <>
      <dl>
        <Figure className="sum" label={<Trans>Charged today</Trans>} amount={money(due_now.cents)} />
        {off > 0 && <Figure label={what} amount={money(price * seats)} />}
        {off > 0 && discount && <Figure label={discount.code} small={discountWords(discount)} amount={money(-off)} />}
        <Figure label={<Trans>Next invoice on {day}</Trans>} small={off > 0 ? undefined : what} amount={money(next.cents)} />
        {applied > 0 && <Figure label={<Trans>From your balance</Trans>} amount={money(-applied)} />}
        {applied > 0 && <Figure label={<Trans>Due on {day}</Trans>} amount={money(due.cents)} />}
        {plan.pricing_type === 'usage' && <Figure label={<Trans>Usage</Trans>} amount={<Trans>at the end of each period</Trans>} />}
      </dl>
      <Losses plan={plan} subscription={subscription} />
    </>
  )
}
