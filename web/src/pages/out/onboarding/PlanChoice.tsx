import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import { Stepper } from '../../../ui/Field'
import type { Choice } from '../Onboarding'

/** The chosen plan, seats and currency, with controls to change them. */
export function PlanChoice({ plan, choice }: { plan: Schema<'Plan'>; choice: Choice }) {
  const { t } = useLingui()
  const format = useFormat()
  const words = usePlanWords()
  const navigate = useNavigate()
  const change = (to: Partial<Record<'plan' | 'currency' | 'seats', string>>) => void navigate({
    to: '/onboarding', replace: true, search: { plan: plan.slug, currency: choice.currency, seats: String(choice.seats), code: choice.code, ...to },
  })
  return (
    <>
      <div className="choice">
        <div><span className="label"><Trans>Plan</Trans></span><p>{plan.name}, {words.price(plan, choice.currency)} {words.per(plan)}</p></div>
        <button type="button" className="as-link" onClick={() => void navigate({ to: '/onboarding', search: { currency: choice.currency, code: choice.code, seats: choice.seats > 1 ? String(choice.seats) : undefined } })}><Trans>Change</Trans></button>
      </div>
      {plan.pricing_type === 'seat' && (
        <div className="choice">
          <div><span className="label"><Trans>Seats</Trans></span><p className="help"><Trans>Number of team members at the start, including you</Trans></p></div>
          <Stepper value={choice.seats} label={t`Seats`} fewer={t`Remove a seat`} more={t`Add a seat`} onChange={(seats) => change({ seats: String(seats) })} />
        </div>
      )}
      {plan.prices.length > 1 && (
        <div className="choice">
          <div><span className="label"><Trans>Currency</Trans></span><p className="help"><Trans>Cannot be changed later</Trans></p></div>
          <select className="select w160" aria-label={t`Currency`} value={choice.currency} onChange={(event) => change({ currency: event.target.value })}>
            {plan.prices.map((one) => <option key={one.currency} value={one.currency}>{format.currency(one.currency)}</option>)}
          </select>
        </div>
      )}
    </>
  )
}
