import { Trans } from '@lingui/react/macro'
import { api } from '../../../api/client'
import { useTenant } from '../../../app/session'
import { Confirm } from '../../../ui/Confirm'

/** Deletes the organization, with its name and the password. The page is loaded anew: nothing of it is kept. */
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
      <p><Trans>Lost are the team with its roles and invitations, API keys, webhooks, settings and all that was counted. Invoices stay, because the law wants them kept. For a while the support can bring it back; after that nobody can.</Trans></p>
    </Confirm>
  )
}
