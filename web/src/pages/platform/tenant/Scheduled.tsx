import { Plural, Trans } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { costOf, scheduledOf } from '../../../parts/scheduled'
import { Button } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { usePlatformMay } from '../may'
import { changePlan, keepPlan } from './subscriptions'
import { useAsk } from './asked'

/** Cancels the scheduled change of a subscription, with an undo. */
function useKeep(of: Schema<'Subscription'>, tenant: { id: string }) {
  const queries = useQueryClient()
  const format = useFormat()
  const change = scheduledOf(of)
  const reload = () => Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
  return useMutation({
    mutationFn: () => keepPlan(tenant.id, of.id),
    onSuccess: async () => {
      await reload()
      const { name } = of.plan
      const [day, amount] = [format.day(of.current_period_end), format.money(of.price_cents * of.quantity, of.currency)]
      const quantity = change && (change.quantity > 1 || change.plan.id === of.plan.id) ? change.quantity : undefined
      toast(<Trans>{name} renews on {day} for {amount}.</Trans>, change && {
        label: <Trans>Undo</Trans>,
        run: async () => {
          await changePlan(tenant.id, of.id, { new_plan_id: change.plan.id, quantity, when: 'period_end' })
          await reload()
        },
      })
    },
    onError: (error) => toast(error.message),
  })
}

/** A change at the end of the period, with the actions that edit and cancel it. */
export function Scheduled({ of, tenant, link = true }: { of: Schema<'Subscription'>; tenant: { id: string }; link?: boolean }) {
  const format = useFormat()
  const may = usePlatformMay()
  const ask = useAsk()
  const keep = useKeep(of, tenant)
  const change = scheduledOf(of)
  if (!change) return null
  const { quantity, total } = costOf(change)
  const { name } = change.plan
  const [day, amount] = [format.day(change.effective_at), format.money(total, of.currency)]
  const who = (change as { by?: { name: string | null } }).by?.name
  return (
    <Note
      icon="clock" role="status" title={<Trans>Changes to {name} on {day}</Trans>}
      actions={may('subscriptions.manage') && (
        <>
          <Button size="s" onClick={() => ask({ dialog: 'change' })}><Trans>Edit scheduled change</Trans></Button>
          <Button size="s" busy={keep.isPending} onClick={() => keep.mutate()}><Trans>Keep current plan</Trans></Button>
        </>
      )}
    >
      {quantity > 1 ? <Plural value={quantity} one={`# seat for ${amount}.`} other={`# seats for ${amount}.`} /> : <Trans>For {amount}.</Trans>}{' '}
      {who && <Trans>Scheduled by {who}.</Trans>}{' '}
      {link && <Link to="/platform/tenants/$tenantId/subscription" params={{ tenantId: tenant.id }}><Trans>What changes</Trans></Link>}
    </Note>
  )
}
