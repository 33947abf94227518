import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { lacksCard } from '../../../parts/trial'
import { Note } from '../../../ui/Messages'
import { PortalButton } from '../shared/Portal'

/**
 * Returns the subscription if it ends with its trial because no card is saved. Without the method, only
 * if the trial ends soon.
 */
export function asksForCard(subscription: Schema<'Subscription'> | null, method: Schema<'PaymentMethod'> | null | undefined): Schema<'Subscription'> | undefined {
  return subscription && (subscription.payment_action?.type === 'add_card' || lacksCard(subscription, method)) ? subscription : undefined
}

/** Asks for a card before a trial ends. The provider's page opens where one adds it. */
export function AddCard({ subscription }: { subscription: Schema<'Subscription'> }) {
  const format = useFormat()
  const may = useMay()
  const day = format.day(subscription.trial_ends_at ?? subscription.current_period_end)
  const { name } = subscription.plan
  return (
    <Note
      tone="warn" role="status" title={<Trans>The trial of {name} ends on {day}</Trans>}
      actions={may('billing.manage') && <PortalButton look="primary" flow="payment_method_update"><Trans>Add card</Trans></PortalButton>}
    >
      <Trans>Add a card to keep {name}. Without one, the subscription ends on that day. Your data and your team are kept.</Trans>
    </Note>
  )
}
