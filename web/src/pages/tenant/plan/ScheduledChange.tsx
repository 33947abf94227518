import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { api, type Schema } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useAction } from '../shared/Action'
import { useHere, useRefresh } from '../shared/reads'
import { useWords } from '../shared/words'
import { costOf, scheduledOf } from '../../../parts/scheduled'

const changed = ['/subscription', '/invoices', '/plans', '/team', '/timeline', '/audit-logs']

/** A change at the end of the period: the new plan, its price, and the actions that make or cancel it. */
export function ScheduledChange({ subscription, withDates, slugs }: {
  subscription: Schema<'Subscription'>; withDates?: boolean
  /** The slugs of the plans by id, to choose the plan. */
  slugs?: Record<string, string>
}) {
  const { t } = useLingui()
  const may = useMay()
  const here = useHere()
  const words = useWords()
  const format = useFormat()
  const refresh = useRefresh()
  const [, filter] = useFilters()
  const change = scheduledOf(subscription)
  const day = change ? format.day(change.effective_at) : ''
  const { name } = subscription.plan
  const slug = change && slugs?.[change.plan.id]
  const keep = useAction(async () => {
    await api.DELETE('/api/v1/tenant/{tenantId}/subscription/pending-change', here)
    await refresh(...changed)
    document.getElementById('content')?.focus({ preventScroll: true })
    toast(t`${name} renews on ${day}`, change && {
      label: t`Undo`,
      run: async () => {
        const body = { new_plan_id: change.plan.id, ...(change.quantity > 1 || change.plan.id === subscription.plan.id ? { quantity: change.quantity } : {}), when: 'period_end' as const }
        await api.POST('/api/v1/tenant/{tenantId}/subscription/change-plan', { ...here, body })
        await refresh(...changed)
      },
    })
  }, t`The change is still scheduled`)
  if (!change) return null
  const { quantity, price, total } = costOf(change)
  const same = change.plan.id === subscription.plan.id
  const money = (cents: number) => format.money(cents, subscription.currency)
  const seats = plural(quantity, { one: '# seat', other: '# seats' })
  const each = words.each({ ...subscription, pricing_type: subscription.plan.pricing_type })
  const [to, amount, next] = [change.plan.name, money(total), money(price)]
  // The platform schedules a change of the price alone; it is a part of the contract.
  const priceOnly = same && quantity === subscription.quantity
  const title = priceOnly ? <Trans>The price changes on {day}</Trans> : same ? <Trans>Changes to {seats} on {day}</Trans> : <Trans>Changes to {to} on {day}</Trans>
  const actions = may('billing.manage') && !priceOnly && (
    <>
      {slug && !same && <Button onClick={() => filter({ plan: slug, when: 'now', code: undefined, done: undefined })}><Trans>Change now</Trans></Button>}
      <Button busy={keep.busy} onClick={() => keep.run()}>{same ? <Trans>Keep {plural(subscription.quantity, { one: '# seat', other: '# seats' })}</Trans> : <Trans>Keep {name}</Trans>}</Button>
    </>
  )
  return (
    <>
      <Note icon="clock" title={title} actions={actions}>
        {quantity > 1 ? <>{format.number(quantity)} × {next} = {amount} {each}.</> : <>{amount} {each}.</>}{' '}
        {!same && <Trans>You keep {name} until then.</Trans>}
      </Note>
      {withDates && (
        <ol className="coming">
          <li><b><Trans>Today</Trans></b>{words.planWithSeats(name, subscription.plan.pricing_type, subscription.quantity)}</li>
          <li><b><time dateTime={change.effective_at}>{day}</time></b>{same ? <Trans>The change takes effect</Trans> : <Trans>{to} begins</Trans>}<br /><Trans>Invoice for {amount}</Trans></li>
        </ol>
      )}
      {keep.problem}
    </>
  )
}
