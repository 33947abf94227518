import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { now } from '../../../app/clock'
import { useFormat } from '../../../app/format'
import { usePlanWords } from '../../../app/plans'
import { Skeleton } from '../../../ui/Messages'
import type { Sold } from '../tenant/plans'
import { after, type Draft, type Preview } from './draft'

const day = 86_400_000

function Figure({ label, small, amount, className }: { label: ReactNode; small?: ReactNode; amount: ReactNode; className?: string }) {
  return <div className={className}><dt>{label}{small && <small>{small}</small>}</dt><dd>{amount}</dd></div>
}

/** The cost of a new subscription as a receipt, and the days on which something happens. */
export function Receipt({ plan, draft, price, seats, preview, busy }: { plan: Sold; draft: Draft; price: number; seats: number; preview: Preview | undefined; busy: boolean }) {
  const format = useFormat()
  const words = usePlanWords()
  const money = ({ cents, currency }: { cents: number; currency: string }, sign = 1) => format.money(sign * cents, currency)
  const each = words.each(plan)
  const unit = format.money(price, draft.currency)
  const regular = format.money(price * seats, draft.currency)
  return (
    <aside className={`receipt sticky ${busy ? 'is-old' : ''}`} aria-busy={busy || undefined}>
      <h2><Trans>Preview</Trans></h2>
      {preview
        ? (
            <>
              <dl>
                <Figure label={seats > 1 ? <Plural value={seats} one={`${plan.name}, # seat`} other={`${plan.name}, # seats`} /> : plan.name} small={seats > 1 ? <>{format.number(seats)} × {unit} {each}</> : each} amount={regular} />
                {preview.discount.cents > 0 && <Figure label={draft.code.toUpperCase() || <Trans>Discount</Trans>} small={<Trans>Promotion code</Trans>} amount={money(preview.discount, -1)} />}
                {preview.reverse_charge
                  ? <Figure label={<Trans>VAT</Trans>} small={<Trans>Reverse charge</Trans>} amount={format.money(0, draft.currency)} />
                  : preview.tax && preview.tax.cents > 0 && <Figure label={<Trans>VAT included</Trans>} amount={money(preview.tax)} />}
                <Figure className="sum" label={<Trans>First paid period</Trans>} amount={money(preview.total)} />
                {preview.balance_applied.cents > 0 && <Figure label={<Trans>From the balance</Trans>} amount={money(preview.balance_applied, -1)} />}
                {!preview.trial_ends_at && <Figure label={draft.collection === 'invoice' ? <Trans>First invoice</Trans> : <Trans>Charged now</Trans>} amount={money(preview.due_now)} />}
              </dl>
              <Days plan={plan} draft={draft} preview={preview} />
            </>
          )
        : <Skeleton lines={5} />}
    </aside>
  )
}

/** What happens when, from today to the second invoice. */
function Days({ plan, draft, preview }: { plan: Sold; draft: Draft; preview: Preview }) {
  const format = useFormat()
  const money = ({ cents, currency }: { cents: number; currency: string }) => format.money(cents, currency)
  const starts = new Date(preview.trial_ends_at ?? now())
  const free = preview.trial_ends_at !== null
  const byInvoice = draft.collection === 'invoice'
  const due = byInvoice ? new Date(starts.getTime() + Number(draft.due) * day) : undefined
  const second = free ? after(starts, plan) : new Date(preview.next_billing_at ?? after(starts, plan))
  const days = Number(draft.days)
  const points: { at: Date; what: ReactNode; amount?: string }[] = [
    ...(free ? [{ at: new Date(now()), what: <Plural value={days} one="#-day trial starts" other="#-day trial starts" />, amount: format.money(0, draft.currency) }] : []),
    { at: starts, what: byInvoice ? <Trans>First invoice</Trans> : <Trans>First payment</Trans>, amount: free ? money(preview.next_amount) : money(preview.due_now) },
    ...(due && Number(draft.due) > 0 && due < second ? [{ at: due, what: <Trans>Due date of the first invoice</Trans> }] : []),
    { at: second, what: byInvoice ? <Trans>Second invoice</Trans> : <Trans>Second payment</Trans>, amount: free ? undefined : money(preview.next_amount) },
  ]
  return (
    <ol className="dates">
      {points.map((one, i) => (
        <li key={i} className={i === 0 ? 'now' : undefined}>
          <span>{one.at.getTime() - now() < day / 2 ? <Trans>Today</Trans> : format.day(one.at)}<small>{one.what}</small></span>
          {one.amount && <b>{one.amount}</b>}
        </li>
      ))}
    </ol>
  )
}
