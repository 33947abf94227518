import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useTenant } from '../../../app/session'
import { Button } from '../../../ui/Button'
import { Confirm } from '../../../ui/Confirm'
import { toast } from '../../../ui/Toast'
import { useHere, useRefresh } from '../shared/reads'

/** Deletes the connection. While it is required, the name of the organization must be typed. */
export function Disconnect({ sso }: { sso: Schema<'SSOConnection'> }) {
  const { t } = useLingui()
  const { name } = useTenant()
  const here = useHere()
  const refresh = useRefresh()
  const [asking, setAsking] = useState(false)

  async function disconnect() {
    await api.DELETE('/api/v1/tenant/{tenantId}/sso', here)
    await refresh('/sso', '/audit-logs')
    toast(t`SSO was disconnected`)
  }
  return (
    <div className="danger-zone">
      <div>
        <p><Trans>Members who signed in with SSO are signed out and need a password or an email code. Your domains stay verified.</Trans></p>
        <Button look="danger" onClick={() => setAsking(true)}><Trans>Disconnect SSO</Trans></Button>
      </div>
      <Confirm
        open={asking} onClose={() => setAsking(false)} onConfirm={disconnect} name={sso.required ? name : undefined}
        title={<Trans>Disconnect SSO?</Trans>} action={<Trans>Disconnect SSO</Trans>}
      >
        <p><Trans>Members who signed in with SSO are signed out and lose their SSO links. They need a password or an email code to sign in again.</Trans></p>
      </Confirm>
    </div>
  )
}
