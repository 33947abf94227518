import { plural } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ApiError, type Schema } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { useHolds, useMay, useTenant } from '../../../app/session'
import { PromotionCode } from '../../../parts/PromotionCode'
import { Button } from '../../../ui/Button'
import { Note, Skeleton } from '../../../ui/Messages'
import { useMethodWords } from '../shared/method'
import { usePaymentMethod } from '../shared/reads'
import { useWords } from '../shared/words'
import { Figures } from './Figures'
import { LaterFigures } from './LaterFigures'
import { PurchaseFigures } from './PurchaseFigures'
import { Refusal } from './Refusal'
import { momentsOf } from '../../../parts/scheduled'
import { useChange } from './useChange'
import { canChange, usePreview, usePurchasePreview, type Options } from './usePreview'
import { WhenChoice } from './WhenChoice'

/** Reports whether the service does not know previews of a purchase, or cannot make one now. */
const unknown = (error: unknown) => error instanceof ApiError && (error.status === 404 || error.status === 405)

interface Props {
  plan: Schema<'OfferedPlan'>
  seats: number
  subscription: Schema<'Subscription'> | null
  currency: string
}

/** The running plan, or the cost of the choice. */
export function Receipt(props: Props) {
  const { plan, seats, subscription } = props
  const may = useMay()
  const words = useWords()
  if (plan.id !== subscription?.plan.id || seats !== subscription.quantity) return <Choice {...props} />
  const what = words.planWithSeats(plan.name, plan.pricing_type, seats)
  return (
    <aside className="receipt">
      <h2><Trans>Your plan: {what}</Trans></h2>
      <Figures plan={plan} seats={seats} subscription={subscription} />
      {may('billing.manage') && <p className="help"><Trans>Choose another plan to see the cost of the change. Nothing changes until you confirm.</Trans></p>}
    </aside>
  )
}

/** Returns the options of the choice with the preview of its cost. The date and the code are in the URL. */
function useCost({ plan, seats, subscription, currency }: Props) {
  const holds = useHolds()
  const may = useMay()
  const [search] = useFilters()
  const samePlan = plan.id === subscription?.plan.id
  const regular = (samePlan ? subscription.price_cents : (plan.prices[0]?.price_cents ?? 0)) * seats
  const moments = subscription ? momentsOf(regular, plan, subscription) : ['now' as const]
  const when = moments.find((one) => one === search.when) ?? moments[0]!
  const options: Options = { plan, seats, currency, when, code: search.code }
  const changed = holds('billing.manage') && canChange(subscription)
  const bought = !subscription && may('billing.manage')
  const { query: change, key } = usePreview(options, changed)
  const purchase = usePurchasePreview(options, bought)
  const query = changed ? change : purchase
  const refused = query.data?.refused
  return {
    options: refused ? { ...options, code: undefined } : options, moments, regular, key, changed, bought, query, refused,
    preview: changed ? change.data?.data : undefined, first: bought ? purchase.data?.data : undefined,
    // Without previews of a purchase, the catalog's price is shown.
    failed: query.isError && (changed || (bought && !unknown(query.error))),
    ready: changed ? query.isSuccess && !query.isPlaceholderData : !bought || query.isError || (query.isSuccess && !query.isPlaceholderData),
  }
}

type Cost = ReturnType<typeof useCost>

/** Returns the text of the button that changes the plan. It names the amount or the day. */
function useChangeLabel({ plan, seats, subscription }: Props, { preview, options }: Cost) {
  const format = useFormat()
  const pay = preview?.due_now.cents ?? 0
  const amount = format.money(pay, preview?.due_now.currency ?? options.currency)
  const day = subscription && format.day(subscription.current_period_end)
  const later = options.when === 'period_end'
  const { name } = plan
  if (plan.id === subscription?.plan.id) {
    const more = seats - subscription.quantity
    if (later) return more > 0 ? plural(more, { one: `Add # seat on ${day}`, other: `Add # seats on ${day}` }) : plural(-more, { one: `Remove # seat on ${day}`, other: `Remove # seats on ${day}` })
    if (more > 0) return pay > 0 ? plural(more, { one: `Add # seat — pay ${amount} now`, other: `Add # seats — pay ${amount} now` }) : plural(more, { one: 'Add # seat — nothing to pay now', other: 'Add # seats — nothing to pay now' })
    return plural(-more, { one: 'Remove # seat now', other: 'Remove # seats now' })
  }
  if (later) return <Trans>Change to {name} on {day}</Trans>
  return pay > 0 ? <Trans>Change to {name} — pay {amount} now</Trans> : <Trans>Change to {name} — nothing to pay now</Trans>
}

/** Returns the text of the button that buys the first plan. */
function useBuyLabel({ plan }: Props, { first, regular, options }: Cost, cardFree: boolean, trial: boolean) {
  const format = useFormat()
  const pay = first?.due_now.cents ?? regular
  const amount = format.money(pay, options.currency)
  if (cardFree) return plural(plan.trial_days, { one: 'Start #-day free trial', other: 'Start #-day free trial' })
  if (trial) return <Trans>Start trial of {plan.name}</Trans>
  return pay > 0 ? <Trans>Continue to payment — {amount}</Trans> : <Trans>Start {plan.name} for free</Trans>
}

/** What happens after the button is pressed. */
function Consequences({ cost, subscription, cardFree }: { cost: Cost; subscription: Schema<'Subscription'> | null; cardFree: boolean }) {
  const format = useFormat()
  const tenant = useTenant()
  const method = usePaymentMethod().data?.data
  const methodWords = useMethodWords()
  const { preview, first, options } = cost
  const trialEnd = first?.trial_ends_at && format.day(first.trial_ends_at)
  const how = method && methodWords(method)
  const to = tenant.billing_email ?? tenant.owner?.email
  const sent = subscription?.collection === 'invoice'
  if (options.when === 'period_end' && subscription) return <p className="help"><Trans>You keep {subscription.plan.name} until then and can cancel the change at any time.</Trans></p>
  return (
    <p className="help">
      {cardFree && (trialEnd ? <Trans>No card needed. Without a card, the trial ends on {trialEnd} and the default plan applies.</Trans> : <Trans>No card needed.</Trans>)}{' '}
      {preview && preview.due_now.cents > 0 && (sent ? <Trans>You get an invoice for the amount.</Trans> : how && <Trans>Charged to {how}.</Trans>)} {preview && <Trans>This preview is valid for 15 minutes.</Trans>} {to && <Trans>The invoice will be sent to {to}.</Trans>}
    </p>
  )
}

/** The cost of the choice, and the button to confirm it. */
function Choice(props: Props) {
  const { plan, seats, subscription, currency } = props
  const holds = useHolds()
  const may = useMay()
  const words = useWords()
  const format = useFormat()
  const [search, filter] = useFilters()
  const cost = useCost(props)
  const { options, preview, first, query, failed, changed, bought } = cost
  const trial = first ? first.trial_ends_at !== null : plan.trial_days > 0
  const cardFree = !subscription && trial && !plan.trial_requires_card
  const change = useChange(options, subscription, cost.key, cardFree)
  const changeLabel = useChangeLabel(props, cost)
  const buyLabel = useBuyLabel(props, cost, cardFree, trial)
  const what = words.planWithSeats(plan.name, plan.pricing_type, seats)
  const blocked = subscription !== null && !canChange(subscription)
  const later = options.when === 'period_end'
  const before = subscription && format.number(subscription.quantity)
  const after = plural(seats, { one: '# seat', other: '# seats' })
  const off = first && first.discount.cents > 0 ? format.money(first.discount.cents, first.discount.currency) : undefined
  return (
    <aside className="receipt" aria-live="polite">
      <h2>{plan.id === subscription?.plan.id ? <Trans>{plan.name}, from {before} to {after}</Trans> : what}</h2>
      {changed && subscription && <WhenChoice moments={cost.moments} value={options.when} onChange={(when) => filter({ when }, { replace: true })} plan={plan} preview={preview} subscription={subscription} />}
      {failed
        ? <div className="stack gap-top"><Refusal error={query.error} onRetry={() => void query.refetch()} /></div>
        : (changed && !preview) || (bought && query.isPending) ? <Skeleton lines={5} />
          : first ? <PurchaseFigures plan={plan} seats={seats} preview={first} code={options.code} />
            : later && subscription && preview ? <LaterFigures plan={plan} seats={seats} subscription={subscription} preview={preview} />
              : <Figures plan={plan} seats={seats} subscription={subscription} preview={preview} code={options.code} />}
      {(changed || bought) && !later && cost.regular > 0 && (!subscription?.discount || search.code) && (
        <PromotionCode key={plan.id} code={search.code} refused={cost.refused} busy={query.isFetching} plan={plan.name} currency={currency} discount={off} onChange={(code) => { change.reset(); filter({ code }, { replace: true }) }} />
      )}
      {change.isError && <div className="gap-top"><Refusal error={change.error} /></div>}
      {blocked && <div className="gap-top"><Note tone="warn" title={<Trans>A payment is outstanding</Trans>}><Trans>Pay the open amount first. Then you can change the plan.</Trans></Note></div>}
      {holds('billing.manage')
        ? <Button look="primary" size="big" block busy={change.isPending} disabled={!may('billing.manage') || blocked || !cost.ready || failed} onClick={() => change.mutate()}>{subscription ? changeLabel : buyLabel}</Button>
        : <p className="help"><Trans>Only members with the permission to manage billing can change the plan.</Trans></p>}
      {holds('billing.manage') && <Consequences cost={cost} subscription={subscription} cardFree={cardFree} />}
    </aside>
  )
}
