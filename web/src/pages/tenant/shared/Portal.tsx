import { useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { api } from '../../../api/client'
import { useMay, useSettings, useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { useAction } from './Action'

/** Opens the provider's billing portal, for example to change the card, and returns here. */
export function PortalButton({ children, look, size, flow }: {
  children: ReactNode; look?: 'primary' | 'plain' | 'quiet'; size?: 's' | 'm'
  /** Opens the page that adds a payment method, instead of the portal's home. */
  flow?: 'payment_method_update'
}) {
  const { t } = useLingui()
  const { id } = useTenant()
  const { frontend_url } = useSettings()
  const may = useMay()
  const open = useAction(async () => {
    // The service only allows return URLs on the host of its own frontend.
    const home = new URL(frontend_url, document.baseURI).host === location.host
    const answer = await api.POST('/api/v1/tenant/{tenantId}/docs/billing/portal', {
      params: { path: { tenantId: id } }, body: { ...(home ? { return_url: location.href } : {}), ...(flow ? { flow } : {}) },
    })
    location.assign(answer.data!.data.url)
  }, t`Could not open the provider’s page`)
  if (!may('billing.manage')) return null
  return (
    <>
      <Button look={look} size={size} busy={open.busy} onClick={() => open.run()}>{children}</Button>
      {open.problem}
    </>
  )
}
