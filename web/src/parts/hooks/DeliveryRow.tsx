import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { Button } from '../../ui/Button'
import { Copy } from '../../ui/Copy'
import { Status } from '../../ui/Status'
import { toast } from '../../ui/Toast'
import { When } from '../../ui/When'
import type { Scope } from '../scope'
import { hooksKey, hooksOf } from './api'

type Attempt = Schema<'WebhookAttempt'>

function State({ of }: { of: Schema<'WebhookDelivery'> }) {
  if (of.status === 'delivered') return <Status tone="good"><Trans>Delivered</Trans></Status>
  if (of.status === 'failed') return <Status tone="bad"><Trans>Failed</Trans></Status>
  return <Status tone="wait">{of.next_attempt_at && of.attempts.length > 0 ? <Trans>Next attempt <When at={of.next_attempt_at} /></Trans> : <Trans>Pending</Trans>}</Status>
}

/** The response to an attempt. */
function Answer({ of }: { of: Attempt }) {
  const { t } = useLingui()
  const format = useFormat()
  const duration = format.number(of.duration_ms)
  const failures: Record<string, string> = {
    address_not_allowed: t`host not found or address not public`, connection_failed: t`no connection`, invalid_answer: t`invalid HTTP response`,
    timeout: t`no response within 15 seconds`, tls_failed: t`the certificate is not valid`,
  }
  if (of.error) return <>{failures[of.error] ?? of.error}</>
  return <Trans>{of.status_code} in {duration} ms</Trans>
}

/** A link to the request and the responses of a delivery. */
function DeliveryLink({ of, endpoint, scope }: { of: Schema<'WebhookDelivery'>; endpoint: Schema<'WebhookEndpoint'>; scope: Scope }) {
  const name = <code>{of.type}</code>
  if (scope === 'platform') return <Link className="rowlink" to="/platform/developers/deliveries/$deliveryId" params={{ deliveryId: of.id }} search={{ endpoint: endpoint.id }}>{name}</Link>
  return <Link className="rowlink" to="/developers/webhooks/$endpointId/$deliveryId" params={{ endpointId: endpoint.id, deliveryId: of.id }}>{name}</Link>
}

export function DeliveryRow({ of, endpoint, scope }: { of: Schema<'WebhookDelivery'>; endpoint: Schema<'WebhookEndpoint'>; scope: Scope }) {
  const format = useFormat()
  const queries = useQueryClient()
  const resend = useMutation({
    mutationFn: () => hooksOf(scope).resend(endpoint.id, of.id),
    onSuccess: async () => { toast(<Trans>The event is being resent.</Trans>); await queries.invalidateQueries({ queryKey: hooksKey(scope) }) },
    onError: (error) => toast(error.message),
  })
  const last = of.attempts.at(-1)
  return (
    <tr>
      <td className="k1"><DeliveryLink of={of} endpoint={endpoint} scope={scope} /><small><Copy text={of.event_id} /></small></td>
      <td className="k2"><State of={of} /></td>
      <td className="k3">
        {last
          ? of.attempts.length === 1
            ? <Answer of={last} />
            : (
              <details className="attempts">
                <summary><Plural value={of.attempts.length} one="# attempt" other="# attempts" />: <Answer of={last} /></summary>
                <ol>{of.attempts.map((one) => <li key={one.at}><time dateTime={one.at}>{format.exact(one.at)}</time> <Answer of={one} /></li>)}</ol>
              </details>
            )
          : <span className="faint"><Trans>None yet</Trans></span>}
      </td>
      <td className="k4 muted"><When at={of.created_at} /></td>
      <td className="acts-cell">
        {of.status !== 'pending' && <Button size="s" look="quiet" busy={resend.isPending} disabled={!endpoint.enabled} onClick={() => resend.mutate()}><Trans>Resend</Trans></Button>}
      </td>
    </tr>
  )
}
