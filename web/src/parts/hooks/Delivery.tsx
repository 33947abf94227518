import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { Button } from '../../ui/Button'
import { Copy, CopyQuiet } from '../../ui/Copy'
import { useKeys, useListed } from '../../ui/keys'
import { Note, Problem } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import { When } from '../../ui/When'
import type { Scope } from '../scope'
import { delivered, useAnswers } from './answers'
import { endpointQuery, hooksKey, hooksOf } from './api'
import { Body, curlOf, headerOf, Headers } from './Code'
import { detailQuery, type DeliveryDetail, type Source } from './source'

type Attempt = DeliveryDetail['attempts'][number]

export function DeliveryState({ of }: { of: Pick<Schema<'WebhookDelivery'>, 'status' | 'next_attempt_at'> & { attempts: unknown[] } }) {
  if (of.status === 'delivered') return <Status tone="good"><Trans>Delivered</Trans></Status>
  if (of.status === 'failed') return <Status tone="bad"><Trans>Failed</Trans></Status>
  return <Status tone="wait">{of.next_attempt_at && of.attempts.length > 0 ? <Trans>Retrying, next attempt <When at={of.next_attempt_at} /></Trans> : <Trans>Pending</Trans>}</Status>
}

/** The attempts, newest first. One is selected, and its response is shown below. */
function Attempts({ of, chosen, onChoose }: { of: DeliveryDetail; chosen: number; onChoose: (index: number) => void }) {
  const { t } = useLingui()
  const format = useFormat()
  const answers = useAnswers()
  const scheduled = of.status === 'pending' && of.next_attempt_at
  return (
    <ol className="tries" reversed>
      {scheduled && (
        <li className="next">
          <Status tone="plain"><span className="sr">{t`Scheduled`}</span></Status><span><Trans>Attempt {of.attempts.length + 1}</Trans></span>
          <span className="muted"><Trans>Scheduled</Trans></span><span /><When at={scheduled} />
        </li>
      )}
      {of.attempts.map((one, i) => (
        <li key={one.at} aria-current={i === chosen ? 'true' : undefined}>
          <Status tone={delivered(one) ? 'good' : 'bad'}><span className="sr">{delivered(one) ? t`Delivered` : t`Failed`}</span></Status>
          <span><button type="button" onClick={() => onChoose(i)}><Trans>Attempt {i + 1}</Trans></button></span>
          <span>{answers.line(one)}</span>
          <span className="num">{answers.took(one.duration_ms)}</span>
          <time dateTime={one.at} title={format.exact(one.at)}>{format.dayAndTime(one.at)}</time>
        </li>
      )).toReversed()}
    </ol>
  )
}

function Response({ of, number }: { of: Attempt; number: number }) {
  const { t } = useLingui()
  const format = useFormat()
  const answers = useAnswers()
  const { response } = of
  const count = response ? Object.keys(response.headers).length : 0
  const type = response && headerOf(response.headers, 'content-type')?.split(';')[0]
  return (
    <section>
      <div className="sec-head">
        <h3 className="h"><Trans>Response to attempt {number}</Trans></h3>
        <span className="end wrap"><Status tone={delivered(of) ? 'good' : 'bad'}>{answers.line(of)}</Status> · {answers.took(of.duration_ms)}{response && !response.truncated && <> · {t`${format.number(new Blob([response.body]).size)} bytes`}</>}</span>
      </div>
      {response
        ? (
          <>
            <Body title={<Trans>Body</Trans>} type={type || undefined} text={response.body} copy={t`Copy the body of the response`} note={response.truncated && <Trans>Shortened to 16 KiB</Trans>} />
            {count > 0 && <details className="fold"><summary><Trans>Response headers</Trans> <span>{format.number(count)}</span></summary><Headers of={response.headers} /></details>}
          </>
        )
        : <p className="t13 muted">{of.error === 'timeout' ? <Trans>No response within 15 seconds.</Trans> : of.error ? <Trans>No response arrived.</Trans> : <Trans>The response was not stored.</Trans>}</p>}
    </section>
  )
}

function Request({ of }: { of: NonNullable<DeliveryDetail['request']> }) {
  const { t } = useLingui()
  const type = headerOf(of.headers, 'content-type')?.split(';')[0]
  return (
    <section>
      <div className="sec-head"><h3 className="h"><Trans>Request</Trans></h3><span className="end"><Trans>Signed with HMAC-SHA256</Trans></span></div>
      <div className="code">
        <header><b>POST</b><span className="url" title={of.url}>{of.url}</span><div className="acts"><CopyQuiet text={curlOf(of)}><Trans>Copy as cURL</Trans></CopyQuiet></div></header>
        <Headers of={of.headers} />
      </div>
      <div className="gap-s"><Body title={<Trans>Payload</Trans>} type={type} text={of.body} copy={t`Copy the payload`} /></div>
      <p className="help gap-s"><Trans>Requests and responses are kept for 30 days.</Trans></p>
    </section>
  )
}

/** The note about a disabled endpoint, with the way to enable it. */
function Disabled({ scope, id }: { scope: Scope; id: string }) {
  const queries = useQueryClient()
  const endpoint = useQuery(endpointQuery(scope, id)).data
  const enable = useMutation({ mutationFn: () => hooksOf(scope).change(id, { enabled: true }), onSuccess: () => queries.invalidateQueries({ queryKey: hooksKey(scope) }) })
  if (!endpoint || endpoint.enabled) return null
  const why = endpoint.disabled_reason
  return (
    <Note tone="warn" actions={<Button size="s" busy={enable.isPending} onClick={() => enable.mutate()}><Trans>Enable endpoint</Trans></Button>}>
      {why === 'gone' ? <Trans>This endpoint is disabled because it returned 410.</Trans> : why === 'failing' ? <Trans>This endpoint is disabled because it failed for several days.</Trans> : <Trans>This endpoint is disabled.</Trans>}
    </Note>
  )
}

/** A delivery: its attempts, the response, and the request. R sends it again. */
export function Delivery({ source, scope, id, endpointId }: { source: Source; scope: Scope; id: string; endpointId?: string }) {
  const found = useQuery(detailQuery(source, id))
  return <article className="md-body" aria-labelledby="delivery"><Read query={found} lines={9}>{(of) => <Detail key={of.id} {...{ of, source, scope, endpointId }} />}</Read></article>
}

function Detail({ of, source, scope, endpointId }: { of: DeliveryDetail; source: Source; scope: Scope; endpointId?: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const queries = useQueryClient()
  const [picked, setPicked] = useState<number>()
  const chosen = Math.min(picked ?? of.attempts.length - 1, of.attempts.length - 1)
  const attempt = of.attempts[chosen]
  const resend = useMutation({
    mutationFn: () => source.resend(of.id),
    onSuccess: () => { setPicked(undefined); return queries.invalidateQueries({ queryKey: hooksKey(scope) }) },
  })
  const send = () => { if (of.status !== 'pending' && !resend.isPending) resend.mutate() }
  useKeys({ r: send })
  useListed(() => (of.status === 'pending' ? [] : ['resend']))
  const url = of.endpoint?.url ?? of.request?.url
  const to = url?.replace(/^https?:\/\//, '')
  const own = of.tenant === null || scope !== 'platform' ? of.endpoint?.id ?? endpointId : undefined
  return (
    <>
      <div className="ent">
        <div className="grow">
          <h2 id="delivery"><code>{of.type}</code><DeliveryState of={of} /></h2>
          {to && <p className="break">{own ? <Trans>To <Link to={scope === 'platform' ? '/platform/developers/webhooks/$endpointId' : '/developers/webhooks/$endpointId'} params={{ endpointId: own }}>{to}</Link></Trans> : <Trans>To {to}</Trans>}</p>}
        </div>
        <div className="acts">
          <span className="t13 muted" role="status">{resend.isSuccess && of.status === 'pending' && <Trans>Event queued</Trans>}</span>
          <Button look="primary" busy={resend.isPending} disabled={of.status === 'pending'} aria-keyshortcuts="R" onClick={send}><Trans>Resend event</Trans></Button>
        </div>
      </div>
      {resend.error && <Problem error={resend.error} />}
      {own && of.status === 'failed' && <Disabled scope={scope} id={own} />}
      <dl className="dl grid-facts">
        {of.tenant !== undefined && <div><dt><Trans>Tenant</Trans></dt><dd>{of.tenant ? <Link to="/platform/tenants/$tenantId" params={{ tenantId: of.tenant.id }}>{of.tenant.name}</Link> : <span className="faint"><Trans>Endpoint of the platform</Trans></span>}</dd></div>}
        <div><dt><Trans>Created</Trans></dt><dd>{format.exact(of.created_at)}</dd></div>
        <div><dt><Trans>Event ID</Trans></dt><dd><Copy text={of.event_id} /></dd></div>
      </dl>
      <section>
        <div className="sec-head tight"><h3 className="h"><Trans>Attempts</Trans></h3><span className="end">{format.number(of.attempts.length)}</span></div>
        {of.attempts.length === 0 && !of.next_attempt_at ? <p className="t13 muted">{of.status === 'failed' ? <Trans>Not sent, because the endpoint was disabled.</Trans> : <Trans>None yet</Trans>}</p> : <Attempts of={of} chosen={chosen} onChoose={setPicked} />}
      </section>
      {attempt && <Response of={attempt} number={chosen + 1} />}
      {of.request ? <Request of={of.request} /> : of.status === 'pending' && <p className="t13 muted">{t`The request appears here after the first attempt.`}</p>}
    </>
  )
}
