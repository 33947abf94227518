import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { Button, ButtonLink } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { ClearFilters } from '../../ui/ClearFilters'
import { Icon } from '../../ui/Icon'
import { Empty, Note } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import type { Scope } from '../scope'
import { requestsQuery, type LoggedRequest } from './reads'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const statuses = ['2xx', '4xx', '5xx']

const toneOf = (status: number) => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

/** Shortens the IDs in a path, so that its words can be read. */
const shortened = (path: string) => path.replace(/([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f-]{22}/gi, '$1…')

type Filters = Record<string, string | undefined>

/** A link that adds a filter. */
function Only({ set, children }: { set: Filters; children: ReactNode }) {
  return <Link to="." resetScroll={false} activeProps={{}} search={((before: Filters) => ({ ...before, ...set })) as never}>{children}</Link>
}

/** The key or the member that sent a request. */
function Sender({ of }: { of: LoggedRequest }) {
  const [key, user, acting] = [of.api_key?.name, of.user?.name, of.acting_as?.name]
  return (
    <>
      {of.api_key ? <Only set={{ key: of.api_key.id }}>{key}</Only> : user ?? <span className="faint"><Trans>Unknown</Trans></span>}
      <small>{key ? <Trans>API key</Trans> : acting ? <Trans>acting as {acting}</Trans> : user && <Trans>Member</Trans>}</small>
      {of.ip && <small>{of.ip}</small>}
    </>
  )
}

function Row({ of, withTenant }: { of: LoggedRequest; withTenant: boolean }) {
  const { t } = useLingui()
  const format = useFormat()
  const duration = format.number(of.duration_ms)
  return (
    <tr>
      <td className="k1 nowrap"><time dateTime={of.at} title={format.exact(of.at)}>{format.dayAndTime(of.at)}</time></td>
      <td className="k2 break"><code title={of.path ?? undefined}><b>{of.method}</b> {of.route && of.path ? <Only set={{ route: of.route }}>{shortened(of.path)}</Only> : <span className="muted">{t`unknown route`}</span>}</code>{of.code && <small><code>{of.code}</code></small>}</td>
      <td className="k3"><Status tone={toneOf(of.status)}>{of.status}</Status></td>
      <td className="k4 num muted"><Trans>{duration} ms</Trans></td>
      <td className="k5"><Sender of={of} /></td>
      {withTenant && <td className="k6">{of.tenant ? <Link to="/platform/tenants/$tenantId" params={{ tenantId: of.tenant.id }}>{of.tenant.name}</Link> : <span className="faint">–</span>}</td>}
    </tr>
  )
}

/** The request log of the platform or a tenant. Filters are in the URL. */
export function RequestLog({ scope }: { scope: Scope }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const status = statuses.find((one) => one === search.status)
  const method = methods.find((one) => one === search.method)
  const filter = { status, method, route: search.route, api_key: search.key, tenant: search.tenant }
  const requests = useInfiniteQuery(requestsQuery(scope, filter))
  const filtered = Object.values(filter).some(Boolean)
  const clear = { status: undefined, method: undefined, route: undefined, key: undefined, tenant: undefined }
  const platform = scope === 'platform'
  // A filter that was set by a link in the list is named by the rows that it leaves.
  const first = requests.data?.rows[0]
  const set = ([['route', search.route], ['key', first?.api_key?.name ?? t`One API key`], ['tenant', first?.tenant?.name ?? t`One tenant`]] as const).filter(([name]) => search[name])
  return (
    <>
      <div className="toolbar">
        <Chips name="status" label={t`Status`} value={status} options={[{ value: 'all', label: t({ message: 'All', context: 'requests' }) }, { value: '2xx', label: t`Successful` }, { value: '4xx', label: t`Refused` }, { value: '5xx', label: t({ message: 'Failed', context: 'requests' }) }]} />
        <select className="select dense" aria-label={t`Method`} value={method ?? ''} onChange={(event) => change({ method: event.target.value || undefined })}>
          <option value="">{t`All methods`}</option>
          {methods.map((one) => <option key={one}>{one}</option>)}
        </select>
        {set.map(([name, label]) => (
          <button key={name} type="button" className="chip set" onClick={() => change({ [name]: undefined })}>{label} <Icon name="x" /><span className="sr"><Trans>Remove filter</Trans></span></button>
        ))}
        {filtered && <Button size="s" look="quiet" icon="x" onClick={() => change(clear)}><Trans>Clear filters</Trans></Button>}
        <Button size="s" className="end" busy={requests.isRefetching} onClick={() => void requests.refetch()}><Trans>Reload</Trans></Button>
      </div>
      <Read query={requests} lines={9}>
        {({ rows, sampled }) => (
          <>
            {sampled && <Note><Trans>There were too many requests to store all of them. Failed requests come first.</Trans></Note>}
            {rows.length === 0
              ? filtered
                ? <Empty slim icon="terminal" title={<Trans>No requests match these filters</Trans>} actions={<ClearFilters />} />
                : <Empty icon="terminal" title={<Trans>No requests yet</Trans>} actions={<ButtonLink to={platform ? '/platform/developers' : '/developers'}><Trans>Open API keys</Trans></ButtonLink>}><Trans>Requests with API keys appear here a few seconds later, with their status and the reason of a refusal.</Trans></Empty>
              : (
                <table className={`table cards rows requests ${platform ? 'with-tenant' : ''}`}>
                  <thead>
                    <tr>
                      <th scope="col"><Trans>Time</Trans></th><th scope="col"><Trans>Request</Trans></th><th scope="col"><Trans>Status</Trans></th><th scope="col" className="num"><Trans>Duration</Trans></th>
                      <th scope="col"><Trans>Sender</Trans></th>{platform && <th scope="col"><Trans>Tenant</Trans></th>}
                    </tr>
                  </thead>
                  <tbody>{rows.map((one) => <Row key={one.id} of={one} withTenant={platform} />)}</tbody>
                </table>
              )}
            {requests.hasNextPage && <Button className="earlier" busy={requests.isFetchingNextPage} onClick={() => void requests.fetchNextPage()}><Trans>Show earlier requests</Trans></Button>}
          </>
        )}
      </Read>
    </>
  )
}
