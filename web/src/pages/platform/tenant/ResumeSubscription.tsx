import { Trans, useLingui } from '@lingui/react/macro'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Confirm } from '../../../ui/Confirm'
import { useSaved } from './useSaved'

/** Reports whether a subscription runs and its cancellation is scheduled. */
export function isEnding(of: Schema<'Subscription'> | undefined): of is Schema<'Subscription'> {
  return !!of && ['active', 'trialing', 'past_due'].includes(of.status) && (of.cancel_at_period_end || of.cancel_at !== null)
}

/** Removes the scheduled cancellation of a subscription. */
export function ResumeSubscription({ of, tenant, open, onClose }: {
  of: Schema<'Subscription'>; tenant: Schema<'AdminTenant'>; open: boolean; onClose: () => void
}) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const { name } = of.plan
  const [day, amount] = [format.dayWithYear(of.current_period_end), format.money(of.price_cents * of.quantity, of.currency)]
  return (
    <Confirm
      calm open={open && isEnding(of)} onClose={onClose} title={<Trans>Resume {name} for {tenant.name}?</Trans>} action={<Trans>Resume subscription</Trans>}
      onConfirm={async () => {
        try {
          await api.POST('/api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/resume', { params: { path: { tenant: tenant.id, subscription: of.id } } })
        } catch (error) {
          if (error instanceof ApiError && error.code === 'subscription_not_resumable') throw new ApiError(422, t`The cancellation was removed in the meantime.`, error.code)
          throw error
        }
        await saved(<Trans>{name} renews on {day} for {amount}.</Trans>)
      }}
    >
      <p><Trans>The cancellation is removed. {name} then renews on {day} for {amount}.</Trans></p>
    </Confirm>
  )
}
