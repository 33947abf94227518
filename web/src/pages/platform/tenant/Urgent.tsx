import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Button } from '../../../ui/Button'
import { CopyButton } from '../../../ui/Copy'
import { Note } from '../../../ui/Messages'
import { usePlatformMay } from '../may'
import { useAsk } from './asked'
import { stateOf, useLimited } from './limits'
import { currentOf } from './MoneyFacts'
import { billingQuery, subscriptionsQuery } from './reads'
import { Scheduled } from './Scheduled'
import { scheduledOf } from '../../../parts/scheduled'

/** The most urgent fact about a tenant with its remedy: an unpaid invoice first, then a trial
 * without a card, a reached limit, and a change that is pending. */
export function Urgent({ of }: { of: Schema<'AdminTenant'> }) {
  const may = usePlatformMay()
  const ask = useAsk()
  const format = useFormat()
  const billing = useQuery(billingQuery(of.id)).data
  const current = currentOf(useQuery(subscriptionsQuery(of.id)).data ?? [])
  const { counted } = useLimited(of.id)
  const link = current?.payment_action?.url
  const copy = link && <CopyButton text={link}><Trans>Copy link</Trans></CopyButton>
  const note = (tone: 'warn' | 'bad' | undefined, title: ReactNode, text: ReactNode, actions?: ReactNode) => <div className="gap-below"><Note tone={tone} role="status" title={title} actions={actions}>{text}</Note></div>

  const failed = billing?.failed_payment
  if (current?.status === 'past_due' && current.collection === 'invoice' && !failed) {
    return note(
      'bad', <Trans>A sent invoice is past due</Trans>, <Trans>Record the payment once it has arrived.</Trans>,
      <>{copy}{may('subscriptions.manage') && <Button size="s" look="primary" onClick={() => ask({ dialog: 'paid' })}><Trans>Record payment</Trans></Button>}</>,
    )
  }
  if (current?.status === 'incomplete') {
    return note('warn', <Trans>{current.plan.name} starts with the first payment</Trans>, <Trans>The owner received the payment link by email. It is valid for 23 hours.</Trans>, copy)
  }
  if (failed || current?.status === 'past_due' || current?.status === 'unpaid') {
    const amount = failed && format.money(failed.amount, failed.currency)
    const day = failed && format.day(failed.at)
    return note(
      'bad', amount ? <Trans>The payment of {amount} failed on {day}</Trans> : <Trans>An invoice is past due</Trans>,
      failed?.decline_message ?? <Trans>The features of the plan are paused until the payment is made.</Trans>,
      <>{copy}{may('subscriptions.manage') && <Button size="s" look="primary" onClick={() => ask({ dialog: 'charge' })}><Trans>Charge again</Trans></Button>}</>,
    )
  }
  if (current?.status === 'trialing' && billing && !billing.payment_method && !current.cancel_at_period_end && !current.cancel_at) {
    const day = format.day(current.trial_ends_at ?? current.current_period_end)
    return note(
      'warn', <Trans>The trial ends on {day} and no card is saved</Trans>, <Trans>Without a card, the subscription is canceled on that day and the default plan applies.</Trans>,
      <>{copy}{may('tenants.manage') && <Button size="s" look="primary" onClick={() => ask({ dialog: 'trial' })}><Trans>Extend trial</Trans></Button>}</>,
    )
  }
  const full = counted.find((one) => stateOf(one.quota!) === 'limit') ?? counted.find((one) => stateOf(one.quota!) === 'cap')
  if (full?.quota) {
    const { quota, name } = full
    const capped = stateOf(quota) === 'cap'
    const [used, limit] = [format.number(quota.current_usage), format.quantity((capped ? quota.cap : quota.quota_limit) ?? 0, full.unit)]
    const day = quota.resets_at && format.day(quota.resets_at)
    return note(
      'warn', capped ? <Trans>{name}: the customer’s own cap is reached</Trans> : <Trans>{name}: limit reached</Trans>,
      <><Trans>{used} of {limit} used.</Trans> {day ? <Trans>More usage is rejected until {day}.</Trans> : <Trans>More usage is rejected.</Trans>}</>,
      may('limits.manage') && !capped && (
        <>
          {full.grantable && <Button size="s" onClick={() => ask({ dialog: 'grant', feature: full.code })}><Trans>Grant units</Trans></Button>}
          <Button size="s" look="primary" onClick={() => ask({ dialog: 'limit', feature: full.code })}><Trans>Change limit</Trans></Button>
        </>
      ),
    )
  }
  const change = scheduledOf(current ?? null)
  if (current && change) return <div className="gap-below"><Scheduled of={current} tenant={of} /></div>
  if (current?.pending_change) {
    const { plan, expires_at } = current.pending_change
    const day = expires_at && format.day(expires_at)
    return note(undefined, <Trans>A change to {plan.name} is waiting for payment</Trans>, day ? <Trans>It expires on {day}.</Trans> : undefined, copy)
  }
  return null
}
