import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../../api/client'
import { Note, Problem } from '../../../ui/Messages'
import { PortalButton } from '../shared/Portal'

/** The reason for a rejected change, with the next step if there is one. */
export function Refusal({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
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
  if (code === 'promotion_code_invalid') return <Note icon="info" role="status" title={<Trans>The amounts have changed</Trans>}><Trans>The promotion code can no longer be used. You were not charged. Review the price without it, then continue.</Trans></Note>
  if (code === 'change_waits') return <Note tone="warn" title={<Trans>A payment for another change is open</Trans>}><Trans>Confirm or cancel it first.</Trans></Note>
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
