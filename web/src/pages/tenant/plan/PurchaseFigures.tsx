import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useWords } from '../shared/words'

function Figure({ label, small, amount, className }: { label: ReactNode; small?: ReactNode; amount: ReactNode; className?: string }) {
  return <div className={className}><dt>{label}{small && <small>{small}</small>}</dt><dd>{amount}</dd></div>
}

/** The lines of the receipt of a first purchase, as the service calculated them. */
export function PurchaseFigures({ plan, seats, preview, code }: { plan: Schema<'OfferedPlan'>; seats: number; preview: Schema<'PurchasePreview'>; code?: string }) {
  const words = useWords()
  const format = useFormat()
  const { total, discount, tax, balance_applied: applied, due_now, trial_ends_at, next_amount, next_billing_at, reverse_charge } = preview
  const money = ({ cents, currency }: { cents: number; currency: string }, sign = 1) => format.money(sign * cents, currency)
  const price = plan.prices[0]
  const times = seats > 1 && price && `${format.number(seats)} × ${format.money(price.price_cents, price.currency)}`
  const each = words.each(plan)
  const vat = tax && money(tax)
  const trial = trial_ends_at && format.day(trial_ends_at)
  const next = next_billing_at && format.day(next_billing_at)
  return (
    <dl>
      <Figure label={plan.name} small={times || each} amount={money({ cents: total.cents + discount.cents, currency: total.currency })} />
      {discount.cents > 0 && <Figure label={code?.toUpperCase() ?? <Trans>Discount</Trans>} small={code && <Trans>Promotion code</Trans>} amount={money(discount, -1)} />}
      {reverse_charge ? <Figure label={<Trans>VAT</Trans>} small={<Trans>Reverse charge</Trans>} amount={format.money(0, total.currency)} />
        : tax && tax.cents > 0 && <Figure label={<Trans>VAT included</Trans>} amount={vat} />}
      {plan.pricing_type === 'usage' && <Figure label={<Trans>Usage</Trans>} amount={<Trans>at the end of each period</Trans>} />}
      {trial && <Figure label={<Plural value={plan.trial_days} one="#-day free trial" other="#-day free trial" />} amount={money(total, -1)} />}
      {applied.cents > 0 && <Figure label={<Trans>From your balance</Trans>} amount={money(applied, -1)} />}
      <Figure className="sum" label={<Trans>Due today</Trans>} amount={money(due_now)} />
      {next && <Figure className="next" label={trial ? <Trans>Trial ends, first payment</Trans> : <Trans>Next regular invoice</Trans>} small={next} amount={money(next_amount)} />}
    </dl>
  )
}
