import { Trans } from '@lingui/react/macro'
import { api } from '../../../api/client'
import { useTenant } from '../../../app/session'
import { Confirm } from '../../../ui/Confirm'

/**
 * Deletes the organization after its name and the password were entered. Then it reloads the page
 * to clear all data.
 */
export function DeleteDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const tenant = useTenant()
  return (
    <Confirm
      open={open} onClose={onClose} name={tenant.name} password
      title={<Trans>Delete {tenant.name}?</Trans>} action={<Trans>Delete {tenant.name}</Trans>}
      onConfirm={async (values) => {
        await api.DELETE('/api/v1/tenant/{tenantId}', {
          params: { path: { tenantId: tenant.id } }, body: { current_password: String(values.current_password) || undefined },
        })
        location.assign(document.baseURI)
      }}
    >
      <p><Trans>You will lose the team with its roles and invitations, API keys, webhooks, settings and all recorded usage. Invoices are kept, as required by law. Our support team can restore the organization for a limited time. After that, the deletion is final.</Trans></p>
    </Confirm>
  )
}
