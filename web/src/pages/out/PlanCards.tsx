import { Trans } from '@lingui/react/macro'
import { plural } from '@lingui/core/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client'
import { usePlanWords } from '../../app/plans'
import { NotInCurrency } from '../../ui/CurrencyChoice'
import { Icon } from '../../ui/Icon'

/** Plans side by side: what each costs and gives, and below it what one can do with it. */
export function PlanCards({ plans, currency, hasTrial = (plan) => plan.trial_days > 0, onCurrency, action }: {
  plans: Schema<'Plan'>[]; currency: string; hasTrial?: (plan: Schema<'Plan'>) => boolean; onCurrency: (currency: string) => void; action: (plan: Schema<'Plan'>) => ReactNode
}) {
  const words = usePlanWords()
  return (
    <ul className="offers">
      {plans.map((plan) => {
        const price = words.price(plan, currency)
        return (
          <li key={plan.id} className="offer">
            <h2>{plan.name}</h2>
            {plan.description && <p className="muted">{plan.description}</p>}
            <div className="p">
              {price
                ? <><b>{price}</b> <span className="muted">{words.per(plan)}</span></>
                : <NotInCurrency currency={currency} others={plan.prices.map((one) => one.currency)} onChange={onCurrency} />}
              {plan.pricing_type === 'usage' && price && <p className="help"><Trans>and what you use beyond it</Trans></p>}
            </div>
            <ul>
              {hasTrial(plan) && (
                <li><Icon name="check" /><span>{plural(plan.trial_days, { one: '# day free to try', other: '# days free to try' })}</span></li>
              )}
              {plan.entitlements.map((one) => (
                <li key={one.id}><Icon name="check" /><span>{one.type === 'boolean' ? one.feature.name : <>{one.feature.name}: {words.entitlement(one)}</>}</span></li>
              ))}
            </ul>
            {price && action(plan)}
          </li>
        )
      })}
    </ul>
  )
}
