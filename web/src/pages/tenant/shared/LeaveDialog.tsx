import { Trans } from '@lingui/react/macro'
import { api } from '../../../api/client'
import { useTenant } from '../../../app/session'
import { Confirm } from '../../../ui/Confirm'

/** Leaves the organization. What was read of it is gone with the page, which is loaded again. */
export function LeaveDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const tenant = useTenant()
  async function leave() {
    await api.POST('/api/v1/tenant/{tenantId}/leave', { params: { path: { tenantId: tenant.id } } })
    location.assign(document.baseURI)
  }
  return (
    <Confirm open={open} onClose={onClose} onConfirm={leave} title={<Trans>Leave {tenant.name}?</Trans>} action={<Trans>Leave {tenant.name}</Trans>}>
      <p><Trans>You lose your access at once and come back only with a new invitation. Your account and your login stay.</Trans></p>
    </Confirm>
  )
}
