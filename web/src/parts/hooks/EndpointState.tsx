import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../api/client'
import { Status } from '../../ui/Status'

/** Whether an endpoint is enabled, otherwise why it is disabled. */
export function EndpointState({ of }: { of: Pick<Schema<'WebhookEndpoint'>, 'enabled' | 'disabled_reason'> }) {
  if (of.enabled) return <Status tone="good"><Trans>Enabled</Trans></Status>
  if (of.disabled_reason === 'gone') return <Status tone="bad"><Trans>Disabled: the endpoint no longer exists</Trans></Status>
  if (of.disabled_reason === 'failing') return <Status tone="bad"><Trans>Disabled: failed for several days</Trans></Status>
  return <Status tone="off"><Trans>Disabled</Trans></Status>
}
