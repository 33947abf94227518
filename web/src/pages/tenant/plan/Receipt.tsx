import { plural } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay, useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Note, Problem, Skeleton } from '../../../ui/Messages'
import { useMethodWords } from '../shared/method'
import { usePaymentMethod } from '../shared/reads'
import { PortalButton } from '../shared/Portal'
import { useWords } from '../shared/words'
import { Figures } from './Figures'
import { useChange } from './useChange'
import { PurchaseFigures } from './PurchaseFigures'
import { amountsOf, canChange, usePreview, usePurchasePreview } from './usePreview'

/** Reports whether the service does not know previews of a purchase, or cannot make one now. */
const unknown = (error: unknown) => error instanceof ApiError && (error.status === 404 || error.status === 405)

/** The reason for a rejected change, with the next step if there is one. */
function Refusal({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const code = error instanceof ApiError ? error.code : undefined
  if (code === 'billing_not_ready') {
    return (
      <Note tone="warn" title={<Trans>Billing details are missing</Trans>} actions={<Link className="btn s" to="/settings" hash="billing"><Trans>Add billing details</Trans></Link>}>
        <Trans>They appear on the invoice, so we need them first.</Trans>
      </Note>
    )
  }
  if (code === 'trial_not_available') return <Note tone="warn" title={<Trans>You have already used the free trial of this product</Trans>}><Trans>You can still buy the plan.</Trans></Note>
  if (code === 'preview_outdated') return <Note tone="warn" title={<Trans>The amounts have changed</Trans>}><Trans>You were not charged. The current price is shown above.</Trans></Note>
  if (code === 'proration_not_supported') return <Note tone="warn" title={<Trans>The cost of this change cannot be calculated</Trans>}><Trans>Choose another plan, or change at the end of the period.</Trans></Note>
  if (code === 'plan_change_error' && error instanceof ApiError && !error.body.violations) {
    return (
      <>
        <Note tone="bad" title={error.message}><Trans>You were not charged. If your card was declined, use another card and try again.</Trans></Note>
        <PortalButton size="s"><Trans>Change payment method</Trans></PortalButton>
      </>
    )
  }
  return <Problem error={error} onRetry={onRetry} />
}

/** The cost of the choice, and the button to confirm it. */
export function Receipt({ plan, seats, subscription, currency }: {
  plan: Schema<'OfferedPlan'>; seats: number; subscription: Schema<'Subscription'> | null; currency: string
}) {
  const may = useMay()
  const words = useWords()
  const format = useFormat()
  const tenant = useTenant()
  const samePlan = plan.id === subscription?.plan.id
  const current = samePlan && seats === subscription.quantity
  const method = usePaymentMethod().data?.data
  const methodWords = useMethodWords()
  const how = method && methodWords(method)
  const previewed = !current && may('billing.manage') && canChange(subscription)
  const { query, key } = usePreview(plan, seats, previewed)
  const purchased = !subscription && may('billing.manage')
  const purchase = usePurchasePreview(plan, seats, currency, purchased)
  const first = purchased ? purchase.data : undefined
  const trial = first ? first.trial_ends_at !== null : plan.trial_days > 0
  const cardFree = !subscription && trial && !plan.trial_requires_card
  const change = useChange(plan, seats, subscription, currency, key, cardFree)
  const preview = previewed ? query.data?.data : undefined
  const price = plan.prices[0]?.price_cents ?? 0
  const what = words.planWithSeats(plan.name, plan.pricing_type, seats)
  const name = samePlan ? plural(seats, { one: '# seat', other: '# seats' }) : plan.name
  const to = tenant.billing_email ?? tenant.owner?.email
  const blocked = subscription !== null && !canChange(subscription)

  if (current) {
    return (
      <aside className="receipt">
        <h2><Trans>Your plan: {what}</Trans></h2>
        <Figures plan={plan} seats={seats} subscription={subscription} />
        {may('billing.manage') && <p className="help"><Trans>Choose another plan to see the cost of the change. Nothing changes until you confirm.</Trans></p>}
      </aside>
    )
  }
  const pay = preview ? amountsOf(preview).dueNow : first ? first.due_now.cents : price * seats
  const amount = format.money(pay, currency)
  const trialEnd = first?.trial_ends_at && format.day(first.trial_ends_at)
  const label = !subscription
    ? cardFree ? plural(plan.trial_days, { one: 'Start #-day free trial', other: 'Start #-day free trial' })
      : trial ? <Trans>Start trial of {plan.name}</Trans> : pay > 0 ? <Trans>Continue to payment — {amount}</Trans> : <Trans>Start {plan.name} for free</Trans>
    : pay > 0 ? <Trans>Change to {name} — pay {amount} now</Trans> : <Trans>Change to {name} — nothing to pay now</Trans>
  const refused = previewed ? query : purchased && purchase.isError && !unknown(purchase.error) ? purchase : undefined
  const failed = refused?.isError ? refused : undefined
  const ready = previewed ? query.isSuccess && !query.isPlaceholderData : !purchased || purchase.isError || (purchase.isSuccess && !purchase.isPlaceholderData)
  return (
    <aside className="receipt" aria-live="polite">
      <h2>{subscription ? <Trans>{what}, starting today</Trans> : what}</h2>
      {failed
        ? <div className="stack gap-top"><Refusal error={failed.error} onRetry={() => void failed.refetch()} /></div>
        : (previewed && !preview) || (purchased && purchase.isPending) ? <Skeleton lines={5} />
          : first ? <PurchaseFigures plan={plan} seats={seats} preview={first} /> : <Figures plan={plan} seats={seats} subscription={subscription} preview={preview} />}
      {change.isError && <div className="gap-top"><Refusal error={change.error} /></div>}
      {blocked && <div className="gap-top"><Note tone="warn" title={<Trans>A payment is outstanding</Trans>}><Trans>Pay the open amount first. Then you can change the plan.</Trans></Note></div>}
      {may('billing.manage')
        ? (
            <Button look="primary" size="big" block busy={change.isPending} disabled={blocked || !ready || !!failed} onClick={() => change.mutate()}>{label}</Button>
          )
        : <p className="help"><Trans>Only members with the permission to manage billing can change the plan.</Trans></p>}
      <p className="help">
        {cardFree && (trialEnd ? <Trans>No card needed. Without a card, the trial ends on {trialEnd} and the default plan applies.</Trans> : <Trans>No card needed.</Trans>)}{' '}
        {preview && pay > 0 && how && <Trans>Charged to {how}.</Trans>} {preview && <Trans>This preview is valid for 15 minutes.</Trans>} {to && <Trans>The invoice will be sent to {to}.</Trans>}
      </p>
    </aside>
  )
}
