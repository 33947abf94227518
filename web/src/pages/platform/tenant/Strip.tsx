import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { nextBill } from '../../../parts/bill'
import { lacksCard } from '../../../parts/trial'
import type { TenantRow } from '../lists/reads'
import { usePlatformMay } from '../may'
import { currentOf } from './MoneyFacts'
import { billingQuery, creditQuery, subscriptionsQuery } from './reads'

function Figure({ label, value, below }: { label: ReactNode; value: ReactNode; below?: ReactNode }) {
  return <div><dt>{label}</dt><dd>{value}{below && <small>{below}</small>}</dd></div>
}

/**
 * The next regular payment of a subscription, without usage, after the discount and the credit: the amount and its day.
 * method is null without a payment method, and undefined while it loads.
 */
function Next({ of, credit, method }: { of: Schema<'Subscription'> | undefined; credit: Schema<'Money'> | undefined; method: Schema<'PaymentMethod'> | null | undefined }) {
  const format = useFormat()
  const label = <Trans>Next payment</Trans>
  const runs = of && ['active', 'trialing', 'past_due'].includes(of.status) && !of.cancel_at && !of.cancel_at_period_end
  if (!runs) return <Figure label={label} value="–" below={of?.status === 'active' || of?.status === 'trialing' ? <Trans>The subscription is canceled</Trans> : <Trans>No subscription</Trans>} />
  const { at, total, charged = total } = nextBill(of, 0, credit)
  const day = format.day(at)
  const usage = of.plan.pricing_type === 'usage'
  if (lacksCard(of, method)) return <Figure label={label} value="–" below={<Trans>Trial until {day}, without a card</Trans>} />
  return <Figure label={label} value={format.money(charged, of.currency)} below={usage ? <Trans>On {day}, plus usage</Trans> : <Trans>On {day}</Trans>} />
}

/** Four figures for most support questions: the next payment, credit, open invoices or else the MRR, and the paid amount. */
export function Strip({ of }: { of: Schema<'AdminTenant'> }) {
  const { id } = of
  const { mrr, mrr_base } = of as Partial<TenantRow>
  const format = useFormat()
  const may = usePlatformMay()
  const billing = useQuery(billingQuery(id)).data
  const credit = useQuery({ ...creditQuery(id), enabled: may('billing.credit') })
  const current = currentOf(useQuery(subscriptionsQuery(id)).data ?? [])
  const sums = (of: Schema<'CurrencySum'>[] | undefined, none: string) => (of === undefined ? '–' : of.length === 0 ? none : format.list(of.map((one) => format.money(one.amount, one.currency))))
  const owes = (billing?.open.length ?? 0) > 0
  const zero = format.money(0, current?.currency ?? credit.data?.balance.currency ?? billing?.paid_in_all[0]?.currency ?? 'EUR')
  return (
    <dl className="strip">
      <Next of={current} credit={credit.data?.balance} method={billing?.payment_method} />
      {may('billing.credit') && <Figure label={<Trans>Balance</Trans>} value={credit.data ? format.sum(credit.data.balance) : '–'} below={credit.data && (credit.data.balance.amount_cents > 0 ? <Trans>Applied to the next invoices</Trans> : <Trans>No credit</Trans>)} />}
      {billing && billing.open.length === 0 && mrr !== undefined
        ? <Figure label={<Trans>MRR</Trans>} value={mrr ? format.sum(mrr) : zero} below={mrr && mrr_base && mrr_base.currency !== mrr.currency && `≈ ${format.sum(mrr_base)}`} />
        : <Figure label={<Trans>Open invoices</Trans>} value={sums(billing?.open, zero)} below={owes && <Trans>To be paid</Trans>} />}
      <Figure label={<Trans>Paid to date</Trans>} value={sums(billing?.paid_in_all, zero)} below={billing && current && !owes && billing.paid_in_all.length > 0 && <Trans>Everything is paid</Trans>} />
    </dl>
  )
}
