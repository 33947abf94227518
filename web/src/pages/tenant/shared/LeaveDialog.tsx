import { Trans } from '@lingui/react/macro'
import { api } from '../../../api/client'
import { useTenant } from '../../../app/session'
import { Confirm } from '../../../ui/Confirm'

/** Leaves the organization. Then it reloads the page to clear all data. */
export function LeaveDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const tenant = useTenant()
  async function leave() {
    await api.POST('/api/v1/tenant/{tenantId}/leave', { params: { path: { tenantId: tenant.id } } })
    location.assign(document.baseURI)
  }
  return (
    <Confirm open={open} onClose={onClose} onConfirm={leave} title={<Trans>Leave {tenant.name}?</Trans>} action={<Trans>Leave {tenant.name}</Trans>}>
      <p><Trans>You lose access immediately and need a new invitation to come back. Your account is kept.</Trans></p>
    </Confirm>
  )
}
