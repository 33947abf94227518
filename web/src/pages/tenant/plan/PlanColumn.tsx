import { Plural, Trans, useLingui } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { NotInCurrency } from '../../../ui/CurrencyChoice'
import { Icon } from '../../../ui/Icon'
import { Status } from '../../../ui/Status'
import { useWords } from '../shared/words'
import { regularPrice } from '../../../parts/bill'
import { amountOf, difference, hindranceOf, type Amount, type Row } from './compare'

export function RowNames({ rows }: { rows: Row[] }) {
  return (
    <div className="plan-rows" aria-hidden="true">
      <span /><span />
      {rows.map((row) => <span key={row.code}>{row.name}</span>)}
      <span />
    </div>
  )
}

function Value({ amount, counted }: { amount: Amount; counted: boolean }) {
  const { t } = useLingui()
  const format = useFormat()
  if (amount === 'none') return <span className="faint">—<span className="sr">{t`no`}</span></span>
  if (amount !== 'unlimited') return <>{format.number(amount)}</>
  return counted ? <Trans>No limit</Trans> : <><Icon name="check" /><span className="sr">{t`yes`}</span></>
}

/** A plan's amount of a feature, and the difference to the current plan. */
function Compared({ row, amount, now }: { row: Row; amount: Amount; now?: Amount }) {
  const format = useFormat()
  const change = now === undefined ? null : difference(now, amount)
  return (
    <span className="cmp">
      <span className="cmp-l">{row.name}</span>
      <span className="cmp-v"><Value amount={amount} counted={row.counted} /></span>
      {change && (
        <span className={change.gain ? 'gain' : 'loss'}>
          {change.by !== undefined ? format.number(change.by) : change.gain ? (now === 'none' ? <Trans>new</Trans> : <Trans>more</Trans>) : amount === 'none' ? <Trans>lost</Trans> : <Trans>less</Trans>}
        </span>
      )}
    </span>
  )
}

/** Why the plan is not available, or its effect. */
function Remark({ plan, subscription }: { plan: Schema<'OfferedPlan'>; subscription: Schema<'Subscription'> | null }) {
  const words = useWords()
  const format = useFormat()
  const hindrance = hindranceOf(plan, subscription)
  if (hindrance === 'default' && !subscription) return <small><Trans>Your plan</Trans></small>
  if (hindrance === 'default' || hindrance === 'too small') {
    return (
      <>
        {hindrance === 'default' ? <small><Trans>Included without a subscription: cancel to return to it.</Trans></small> : <Status tone="warn"><Trans>Too small for your current usage</Trans></Status>}
        {plan.eligibility.violations.map((one) => {
          const feature = plan.features.find(({ code }) => code === one.feature_code)?.name ?? one.feature_code
          const used = format.number(one.current_usage)
          const limit = format.number(one.plan_limit)
          return <small key={one.feature_code}><Trans>{feature}: {used} used, {limit} included in the plan.</Trans></small>
        })}
      </>
    )
  }
  if (hindrance === 'not sold') return <small><Trans>Not available at the moment.</Trans></small>
  if (plan.id === subscription?.plan.id) {
    const what = words.planWithSeats(plan.name, plan.pricing_type, subscription.quantity)
    const price = format.money(regularPrice(subscription), subscription.currency)
    const each = words.each({ ...subscription, pricing_type: subscription.plan.pricing_type })
    return <small><Trans>{what}: {price} {each}.</Trans></small>
  }
  if (plan.trial_days > 0) {
    const days = plan.trial_days
    return <small><Plural value={days} one="#-day free trial" other="#-day free trial" /></small>
  }
  return plan.description && <small>{plan.description}</small>
}

/** A plan as a column: its price and features, and whether it can be selected. */
export function PlanColumn({ plan, rows, currency, others, onCurrency, subscription, chosen, readOnly, onChoose }: {
  plan: Schema<'OfferedPlan'>; rows: Row[]; currency: string; others: string[]; onCurrency?: (currency: string) => void
  subscription: Schema<'Subscription'> | null; chosen: boolean; readOnly: boolean; onChoose: () => void
}) {
  const words = useWords()
  const format = useFormat()
  const current = plan.id === subscription?.plan.id
  const off = hindranceOf(plan, subscription) !== undefined
  // The price of the running subscription applies, even if the plan's price has changed.
  const price = current ? { price_cents: subscription.price_cents, currency: subscription.currency } : plan.prices[0]
  const each = words.per(plan)
  const below = plan.pricing_type === 'usage' ? <Trans>{each}, plus usage</Trans> : each
  return (
    <label className={`plan ${off ? 'is-off' : ''} ${chosen ? 'is-chosen' : ''}`}>
      <span className="plan-h">
        <span className="check"><input type="radio" name="plan" value={plan.slug} checked={chosen} disabled={off || readOnly} onChange={onChoose} /><b>{plan.name}</b></span>
        {current && <span className="tag"><Trans context="the plan">Current</Trans></span>}
      </span>
      <span className="plan-p">
        <b>{price ? (price.price_cents === 0 ? <Trans>Free</Trans> : format.money(price.price_cents, price.currency)) : plan.is_default ? <Trans>Free</Trans> : '—'}</b>
        <span>{price && price.price_cents > 0 && below}</span>
      </span>
      {rows.map((row) => (
        <Compared
          key={row.code} row={row} amount={amountOf(plan.features, row.code)}
          now={subscription && !current ? amountOf(subscription.plan.features, row.code) : undefined}
        />
      ))}
      <span className="plan-n">{hindranceOf(plan, subscription) === 'no price' ? <NotInCurrency currency={currency} others={others} onChange={onCurrency} /> : <Remark plan={plan} subscription={subscription} />}</span>
    </label>
  )
}
