import { plural } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import type { Choice } from '../Onboarding'

/** Returns what the choice costs today and later. */
export function useCosts(plan: Schema<'Plan'>, choice: Choice) {
  const price = plan.prices.find((one) => one.currency === choice.currency)?.price_cents ?? 0
  const seats = plan.pricing_type === 'seat' ? choice.seats : 1
  const regular = price * seats
  const start = new Date(now() + plan.trial_days * 86_400_000)
  return { price, seats, regular, today: plan.trial_days > 0 ? 0 : regular, start, free: regular === 0 && plan.pricing_type !== 'usage' }
}

/** The costs of the choice as a small receipt. */
export function Receipt({ plan, choice, tenant }: { plan: Schema<'Plan'>; choice: Choice; tenant?: string }) {
  const format = useFormat()
  const words = usePlanWords()
  const costs = useCosts(plan, choice)
  const money = (cents: number) => format.money(cents, choice.currency)
  const seatPlan = plan.pricing_type === 'seat'
  const seats = plural(costs.seats, { one: '# seat', other: '# seats' })
  return (
    <aside className="receipt">
      <h2>{seatPlan ? `${plan.name}, ${seats}` : plan.name}</h2>
      {tenant && <p className="help"><Trans>For {tenant}</Trans></p>}
      <dl>
        <div>
          <dt>{seatPlan ? <>{seats} × {money(costs.price)}</> : plan.name}<small>{words.each(plan)}</small></dt>
          <dd>{money(costs.regular)}</dd>
        </div>
        {plan.trial_days > 0 && (
          <div>
            <dt>{plural(plan.trial_days, { one: '#-day trial', other: '#-day trial' })}</dt>
            <dd>{money(-costs.regular)}</dd>
          </div>
        )}
        <div className="sum"><dt><Trans>Today</Trans></dt><dd>{money(costs.today)}</dd></div>
        <div className="next">
          <dt>{plan.trial_days > 0 ? <Trans>From {format.day(costs.start)}</Trans> : <Trans>After that</Trans>}<small><Trans>{words.each(plan)}, until you cancel</Trans></small></dt>
          <dd>{money(costs.regular)}</dd>
        </div>
      </dl>
      <p className="help"><Trans>Taxes, if any, are shown before you pay.</Trans></p>
    </aside>
  )
}
