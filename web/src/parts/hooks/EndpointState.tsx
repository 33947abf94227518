import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../api/client'
import { Status } from '../../ui/Status'

/** Whether an endpoint gets events, and if not, who stopped it. */
export function EndpointState({ of }: { of: Pick<Schema<'WebhookEndpoint'>, 'enabled' | 'disabled_reason'> }) {
  if (of.enabled) return <Status tone="good"><Trans>On</Trans></Status>
  if (of.disabled_reason === 'gone') return <Status tone="bad"><Trans>Stopped: it answered that it is gone</Trans></Status>
  if (of.disabled_reason === 'failing') return <Status tone="bad"><Trans>Stopped: it failed for days</Trans></Status>
  return <Status tone="off"><Trans>Off</Trans></Status>
}
