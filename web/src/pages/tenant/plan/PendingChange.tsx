import { Trans, useLingui } from '@lingui/react/macro'
import { api } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay, useTenant } from '../../../app/session'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { useAction } from '../shared/Action'
import { useRefresh } from '../shared/reads'
import type { Change } from '../../../parts/scheduled'

/** A plan change that the customer must confirm with their bank. */
export function PendingChange({ change }: { change: Change }) {
  const { t } = useLingui()
  const { id } = useTenant()
  const may = useMay()
  const format = useFormat()
  const refresh = useRefresh()
  const { name } = change.plan
  const end = change.expires_at ? format.exact(change.expires_at) : ''
  const drop = useAction(async () => {
    await api.DELETE('/api/v1/tenant/{tenantId}/subscription/pending-change', { params: { path: { tenantId: id } } })
    await refresh('/subscription', '/invoices', '/audit-logs')
    toast(t`The change to ${name} was canceled`)
  }, t`The change is still pending`)
  const actions = may('billing.manage') && (
    <>
      <Button busy={drop.busy} onClick={() => drop.run()}><Trans>Cancel change</Trans></Button>
      {change.payment_action && <ButtonAnchor look="primary" href={change.payment_action.url}><Trans>Confirm payment</Trans></ButtonAnchor>}
    </>
  )
  return (
    <>
      <Note tone="warn" role="status" title={<Trans>The change to {name} is waiting for your bank</Trans>} actions={actions}>
        <Trans>Confirm the payment by {end}. Until then, your plan stays the same. Without confirmation, nothing is charged.</Trans>
      </Note>
      {drop.problem}
    </>
  )
}
