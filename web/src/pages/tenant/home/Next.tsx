import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { $api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { nextBill } from '../../../parts/bill'
import { lacksCard } from '../../../parts/trial'
import { leftToPay } from '../../../parts/invoice/amounts'
import { isLate, splitOpen } from '../shared/bill'
import { useCredit, useFailedPayment, useHere, useInvitations, usePaymentMethod } from '../shared/reads'
import { useWords } from '../shared/words'
import type { Gauge } from './meters'

interface Coming {
  key: string
  at: Date
  about?: boolean
  text: ReactNode
}

/**
 * Upcoming events by day: forecast limits, expiring invitations, due invoices, payment retries, the
 * end of the trial, the next payment.
 */
export function Next({ subscription, open, gauges }: { subscription: Schema<'Subscription'> | null; open: Schema<'Invoice'>[]; gauges: Gauge[] }) {
  const format = useFormat()
  const words = useWords()
  const invitations = useInvitations().data?.data ?? []
  const failed = useFailedPayment().data?.data
  const credit = useCredit().data?.data.balance
  const method = usePaymentMethod().data?.data
  const usagePlan = subscription?.plan.pricing_type === 'usage'
  const usage = $api.useQuery('get', '/api/v1/tenant/{tenantId}/usage/cost-estimate', useHere(), { enabled: usagePlan }).data?.data.total_amount_cents ?? 0
  const coming: Coming[] = gauges.flatMap((gauge) => {
    if (!gauge.reached || gauge.limit === null) return []
    const limit = words.quantity(gauge.limit, gauge.unit)
    return [{ key: gauge.code, at: gauge.reached, about: true, text: <Trans>{gauge.name} reaches its limit of {limit}</Trans> }]
  })
  for (const one of invitations.filter(({ is_valid }) => is_valid)) {
    coming.push({ key: one.id, at: new Date(one.expires_at), text: <Trans>The invitation for {one.email} expires</Trans> })
  }
  if (failed?.next_attempt_at) {
    const owed = format.money(failed.amount, failed.currency)
    coming.push({ key: 'attempt', at: new Date(failed.next_attempt_at), text: <Trans>Payment of {owed} is retried</Trans> })
  }
  const sent = subscription?.collection === 'invoice'
  for (const invoice of sent ? splitOpen(open).due : []) {
    if (!invoice.due_date || isLate(invoice)) continue
    const owed = format.sum(leftToPay(invoice))
    coming.push({ key: invoice.id, at: new Date(invoice.due_date), text: <Trans>Payment of {owed} is due</Trans> })
  }
  if (subscription) {
    const bill = nextBill(subscription, usage, credit)
    const charged = bill.charged ?? bill.total
    const amount = format.money(charged, subscription.currency)
    const { name } = subscription.plan
    const end = new Date(subscription.current_period_end)
    const ends = subscription.cancel_at ?? (lacksCard(subscription, method) ? subscription.current_period_end : null)
    if (ends) coming.push({ key: 'end', at: new Date(ends), text: <Trans>{name} ends</Trans> })
    else if (subscription.status === 'trialing') {
      coming.push({
        key: 'trial', at: end,
        text: method && !sent && charged > 0 ? <Trans>The trial ends and {amount} is charged</Trans> : <Trans>The trial ends</Trans>,
      })
    } else if (subscription.status === 'active' || (subscription.status === 'past_due' && sent)) {
      coming.push({
        key: 'renewal', at: end,
        text: charged === 0 ? <Trans>Usage resets</Trans> : sent ? <Trans>An invoice for {amount} is sent</Trans> : <Trans>{amount} is charged and usage resets</Trans>,
      })
    }
  }
  return (
    <Section className="" title={<Trans>Upcoming</Trans>}>
      {coming.length === 0 && <p className="t13 muted"><Trans>No upcoming dates.</Trans></p>}
      <ul className="list dates">
        {coming.sort((a, b) => a.at.getTime() - b.at.getTime()).slice(0, 6).map((one) => (
          <li key={one.key}><time dateTime={one.at.toISOString()} title={format.exact(one.at)}>{one.about && '≈ '}{format.shortDay(one.at)}</time><span>{one.text}</span></li>
        ))}
      </ul>
    </Section>
  )
}
