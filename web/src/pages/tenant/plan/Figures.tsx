import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { regularPrice, useWords } from '../shared/words'

function Figure({ label, small, amount, className }: { label: ReactNode; small?: ReactNode; amount: ReactNode; className?: string }) {
  return <div className={className}><dt>{label}{small && <small>{small}</small>}</dt><dd>{amount}</dd></div>
}

/** The lines of the receipt: the new plan, what is left of the old one, what waited, the sum and the next bill. */
export function Figures({ plan, seats, subscription, preview }: {
  plan: Schema<'OfferedPlan'>; seats: number; subscription: Schema<'Subscription'> | null; preview?: Schema<'ChangePreview'>
}) {
  const words = useWords()
  const format = useFormat()
  const current = plan.id === subscription?.plan.id
  const price = current ? subscription.price_cents : (plan.prices[0]?.price_cents ?? 0)
  const currency = subscription?.currency ?? plan.prices[0]?.currency ?? 'EUR'
  const money = (cents: number) => format.money(cents, currency)
  const times = seats > 1 && `${format.number(seats)} × ${money(price)}`
  const each = words.each(plan)
  const regular = money(price * seats)
  const end = subscription && format.day(subscription.current_period_end)

  if (current) {
    return (
      <dl>
        <Figure label={plan.name} small={times} amount={<Trans>{regular} {each}</Trans>} />
        {!subscription.cancel_at && <Figure className="next" label={<Trans>Next regular bill</Trans>} small={end} amount={money(regularPrice(subscription))} />}
      </dl>
    )
  }
  if (!preview || !subscription) {
    const trial = plan.trial_days
    return (
      <dl>
        <Figure label={plan.name} small={times} amount={<Trans>{regular} {each}</Trans>} />
        {trial > 0 && <Figure label={<Trans>Trial</Trans>} small={<Trans>if you have not had one</Trans>} amount={<Plural value={trial} one="# day" other="# days" />} />}
        {plan.pricing_type === 'usage' && <Figure label={<Trans>Usage</Trans>} amount={<Trans>at the end of each period</Trans>} />}
        <Figure className="sum" label={trial > 0 ? <Trans>To pay after the trial</Trans> : <Trans>To pay now</Trans>} amount={regular} />
      </dl>
    )
  }
  const { breakdown, charge, credit, net } = preview
  const pending = breakdown.pending.cents
  const left = breakdown.days_remaining
  const total = breakdown.total_days
  // What waited for the next invoice is in the charge, or in the credit where it is below zero.
  const back = credit.cents - Math.max(0, -pending)
  const forNew = charge.cents - Math.max(0, pending)
  const days = breakdown.method === 'psp_preview' && <Trans>{left} of {total} days are left</Trans>
  return (
    <dl>
      <Figure label={plan.name} small={times || days} amount={money(forNew)} />
      {back > 0 && <Figure label={<Trans>Back from {subscription.plan.name}</Trans>} small={days} amount={money(-back)} />}
      {pending !== 0 && <Figure label={<Trans>Waiting for the next bill</Trans>} small={<Trans>seats that came or went</Trans>} amount={money(pending)} />}
      {net.cents >= 0
        ? <Figure className="sum" label={<Trans>To pay now</Trans>} amount={money(net.cents)} />
        : <Figure className="sum" label={<Trans>Credit for your next bills</Trans>} amount={money(-net.cents)} />}
      <Figure className="next" label={<Trans>Next regular bill</Trans>} small={plan.trial_days === 0 ? end : each} amount={regular} />
    </dl>
  )
}
