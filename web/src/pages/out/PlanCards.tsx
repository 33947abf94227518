import { Trans, useLingui } from '@lingui/react/macro'
import { plural } from '@lingui/core/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { usePlanWords } from '../../app/plans'
import { NotInCurrency } from '../../ui/CurrencyChoice'
import { Icon } from '../../ui/Icon'

/** The prices of usage. */
function Usage({ of, currency }: { of: Schema<'Plan'>; currency: string }) {
  const format = useFormat()
  const meters = of.meters.filter((one) => one.currency === currency)
  if (meters.length === 0) return <p className="help"><Trans>plus additional usage</Trans></p>
  return meters.map((one) => {
    const [name, amount, unit] = [one.name, format.unitPrice(one.unit_price_cents, currency), one.unit_label ?? '']
    // A unit that is a word, such as calls, is plural and repeats the name.
    return <p key={one.code} className="help">{/^[A-Za-z]{1,3}$/.test(unit) ? <Trans>{name}: {amount} per {unit}</Trans> : <Trans>{name}: {amount} each</Trans>}</p>
  })
}

/** Plans side by side: the price, the features, and the action below. */
export function PlanCards({ plans, currency, hasTrial = (plan) => plan.trial_days > 0, onCurrency, action }: {
  plans: Schema<'Plan'>[]; currency: string; hasTrial?: (plan: Schema<'Plan'>) => boolean; onCurrency: (currency: string) => void; action: (plan: Schema<'Plan'>) => ReactNode
}) {
  const { t } = useLingui()
  const words = usePlanWords()
  // A feature with a limit in one plan is unlimited in plans that include it without a number.
  const limited = new Set(plans.flatMap((plan) => plan.entitlements.filter((one) => one.type === 'quota').map((one) => one.feature.code)))
  return (
    <ul className="offers">
      {plans.map((plan) => {
        const price = words.price(plan, currency)
        return (
          <li key={plan.id} className="offer">
            <div>
              <h2>{plan.name}</h2>
              {plan.description && <p className="muted">{plan.description}</p>}
            </div>
            <div className="p">
              {price
                ? <><b>{price}</b> <span className="muted">{words.per(plan)}</span></>
                : <NotInCurrency currency={currency} others={plan.prices.map((one) => one.currency)} onChange={onCurrency} />}
              {plan.pricing_type === 'usage' && price && <Usage of={plan} currency={currency} />}
            </div>
            <ul>
              {hasTrial(plan) && (
                <li><Icon name="check" /><span>{plural(plan.trial_days, { one: '#-day free trial', other: '#-day free trial' })}</span></li>
              )}
              {plan.entitlements.map((one) => {
                const { name, code } = one.feature
                const amount = one.type === 'boolean' ? t`Unlimited` : words.entitlement(one)
                return <li key={one.id}><Icon name="check" /><span>{one.type === 'boolean' && !limited.has(code) ? name : <Trans>{name}: {amount}</Trans>}</span></li>
              })}
            </ul>
            {price && action(plan)}
          </li>
        )
      })}
    </ul>
  )
}
