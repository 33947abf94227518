import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useMay } from '../../../app/session'
import { ButtonAnchor } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'

/** Asks for the first payment of a subscription, which begins with it. */
export function FirstPayment({ subscription }: { subscription: Schema<'Subscription'> }) {
  const may = useMay()
  const action = subscription.payment_action
  const { name } = subscription.plan
  if (subscription.status !== 'incomplete' || !action) return null
  return (
    <Note
      tone="warn" role="status" title={<Trans>{name} starts with the first payment</Trans>}
      actions={may('billing.manage') && <ButtonAnchor look="primary" href={action.url}>{action.type === 'confirm' ? <Trans>Confirm payment</Trans> : <Trans>Pay now</Trans>}</ButtonAnchor>}
    >
      {action.type === 'confirm'
        ? <Trans>The subscription starts as soon as your bank has confirmed the payment.</Trans>
        : <Trans>You enter your card details on the payment provider’s page and then return here.</Trans>}
    </Note>
  )
}
