import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import type { Schema } from '../../api/client'
import { hasOwnDay } from '../timeline/days'
import { pageOf, useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { ButtonLink } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Icon } from '../../ui/Icon'
import { useKeys, useListed } from '../../ui/keys'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { Status } from '../../ui/Status'
import type { Scope } from '../scope'
import { useAnswers } from './answers'
import { endpointsQuery } from './api'
import { Delivery } from './Delivery'
import { listQuery, sourceOf, type Row } from './source'
import { eventTypes } from './types'

const states: Schema<'DeliveryStatus'>[] = ['failed', 'pending', 'delivered']

/** The path of a delivery beside its list. */
const pathOf = (scope: Scope) => (scope === 'platform' ? '/platform/developers/deliveries/$deliveryId' : '/developers/webhooks/$endpointId/$deliveryId')

/** The outcome so far in a few words. */
function Outcome({ of }: { of: Row }) {
  const format = useFormat()
  const answers = useAnswers()
  const last = of.attempts.at(-1)
  if (!last) return of.status === 'failed' ? <Trans>Not sent</Trans> : <Trans>Not sent yet</Trans>
  const result = answers.brief(last)
  const count = of.attempts.length
  if (of.status === 'delivered') return <>{result}, {answers.took(last.duration_ms)}</>
  if (of.next_attempt_at) {
    const next = hasOwnDay(of.next_attempt_at) ? format.time(of.next_attempt_at) : format.shortDay(of.next_attempt_at)
    return <Trans>{result}, next attempt {next}</Trans>
  }
  return count > 1 ? <Trans>{result} after {count} attempts</Trans> : <>{result}</>
}

function Entry({ of, scope, current }: { of: Row; scope: Scope; current: boolean }) {
  const { t } = useLingui()
  const format = useFormat()
  const [tone, word] = { delivered: ['good', t`Delivered`], failed: ['bad', t`Failed`], pending: ['wait', of.attempts.length > 0 ? t`Retrying` : t`Pending`] }[of.status] as ['good' | 'bad' | 'wait', string]
  const where = of.tenant?.name ?? of.endpoint?.url.replace(/^https?:\/\//, '')
  return (
    <li>
      <Link
        to={pathOf(scope)} params={((before: object) => ({ ...before, deliveryId: of.id })) as never} search={(before: object) => before as never}
        resetScroll={false} activeProps={{}} aria-current={current ? 'true' : undefined}
      >
        <Status tone={tone}><span className="sr">{word}</span></Status>
        <code>{of.type}</code>
        <time dateTime={of.created_at} title={format.exact(of.created_at)}>{hasOwnDay(of.created_at) ? format.time(of.created_at) : format.shortDay(of.created_at)}</time>
        {where && <small>{where}</small>}
        <small><Outcome of={of} /></small>
      </Link>
    </li>
  )
}

/** The filters of the list, which are in the URL. */
function Filters({ scope, endpointId }: { scope: Scope; endpointId?: string }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const endpoints = useQuery({ ...endpointsQuery(scope), enabled: !endpointId }).data ?? []
  const known = endpoints.some((one) => one.id === search.endpoint)
  return (
    <>
      {!endpointId && (endpoints.length > 0 || search.endpoint) && (
        <select className="select dense" aria-label={t`Endpoint`} value={search.endpoint ?? ''} onChange={(event) => change({ endpoint: event.target.value || undefined })}>
          <option value="">{t`All endpoints`}</option>
          {endpoints.map((one) => <option key={one.id} value={one.id}>{one.url.replace(/^https?:\/\//, '')}</option>)}
          {search.endpoint && !known && <option value={search.endpoint}>{t`An endpoint of a tenant`}</option>}
        </select>
      )}
      <select className="select dense" aria-label={t`Event type`} value={search.type ?? ''} onChange={(event) => change({ type: event.target.value || undefined })}>
        <option value="">{t`All types`}</option>
        {[...eventTypes, 'webhook.test'].map((one) => <option key={one}>{one}</option>)}
      </select>
      <Chips
        label={t`Show`} name="status" value={search.status}
        options={[
          { value: 'all', label: t({ message: 'All', context: 'deliveries' }) }, { value: 'failed', label: t`Failed` }, { value: 'pending', label: t`Pending` }, { value: 'delivered', label: t`Delivered` },
        ]}
      />
      {search.tenant && <div className="chips"><button type="button" className="chip set" onClick={() => change({ tenant: undefined })}><Trans>One tenant</Trans> <Icon name="x" /><span className="sr"><Trans>Remove filter</Trans></span></button></div>}
    </>
  )
}

function Nothing({ filtered, failed, all }: { filtered: boolean; failed: boolean; all: ReactNode }) {
  if (failed) return <Empty slim icon="check" title={<Trans>Every event was delivered</Trans>} actions={all} />
  if (filtered) return <Empty slim icon="hook" title={<Trans>No matching deliveries</Trans>} actions={all} />
  return <Empty slim icon="hook" title={<Trans>No deliveries yet</Trans>}><Trans>Events appear here with every delivery attempt.</Trans></Empty>
}

/**
 * Deliveries and one of them side by side. J and K move through the list, so that failures can be
 * looked at one after the other.
 */
export function DeliveryPage({ scope, endpointId, id }: { scope: Scope; endpointId?: string; id?: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const navigate = useNavigate()
  const [search, change] = useFilters()
  const source = sourceOf(scope, endpointId)
  const status = states.find((one) => one === search.status)
  const type = [...eventTypes, 'webhook.test' as const].find((one) => one === search.type)
  const filter = { page: pageOf(search), status, type, tenant: search.tenant, endpoint: search.endpoint }
  const list = useQuery(listQuery(source, filter))
  const rows = list.data?.data ?? []
  const shown = id ?? rows[0]?.id
  // The delivery to which the keys lead, until the page shows it: the next key starts from there.
  const target = useRef<string>(undefined)
  // The steps of the keys that were pressed before the list was loaded.
  const ahead = useRef(0)
  const go = (step: number) => {
    if (!list.data) {
      ahead.current += step
      return
    }
    const at = rows.findIndex((one) => one.id === (target.current ?? shown))
    const to = rows[Math.min(rows.length - 1, Math.max(0, at + step))]
    if (!to || to.id === (target.current ?? shown)) return
    target.current = to.id
    void navigate({ to: pathOf(scope), params: ((before: object) => ({ ...before, deliveryId: to.id })) as never, search: ((before: object) => before) as never, resetScroll: false, replace: true })
  }
  useKeys({ j: () => go(1), k: () => go(-1) })
  useListed(() => (rows.length > 1 ? ['rows'] : []))
  useEffect(() => {
    if (!list.data || ahead.current === 0) return
    const steps = ahead.current
    ahead.current = 0
    go(steps)
  }, [list.data]) // eslint-disable-line react-hooks/exhaustive-deps
  useEffect(() => {
    if (target.current !== shown) return
    target.current = undefined
    document.querySelector<HTMLElement>('.dv [aria-current]')?.focus()
  }, [shown])
  const filtered = Boolean(status || type || search.tenant || search.endpoint)
  const all = <button type="button" className="btn s" onClick={() => change({ status: undefined, type: undefined, tenant: undefined, endpoint: undefined })}><Trans>Show all deliveries</Trans></button>
  return (
    <Page title={t`Deliveries`} heading={null} flush>
      <div className="md">
        <section className="md-list" aria-label={t`Deliveries`}>
          <header>
            <div className="row"><h1><Trans>Deliveries</Trans></h1>{list.data && <span className="faint t13 end" role="status">{format.number(list.data.meta.total)}</span>}</div>
            <Filters scope={scope} endpointId={endpointId} />
          </header>
          <Read query={list} lines={6}>
            {({ data, meta }) => data.length === 0
              ? <Nothing filtered={filtered} failed={status === 'failed' && !type && !search.tenant && !search.endpoint} all={all} />
              : (
                <>
                  <ul className={list.isPlaceholderData ? 'dv is-old' : 'dv'}>{data.map((one) => <Entry key={one.id} of={one} scope={scope} current={one.id === shown} />)}</ul>
                  <Pager meta={meta} />
                </>
              )}
          </Read>
        </section>
        {shown
          ? <Delivery {...{ source, scope, endpointId }} id={shown} />
          : list.data && !filtered && <div className="md-body"><Empty icon="hook" title={<Trans>Events are sent to webhook endpoints</Trans>} actions={<ButtonLink to={scope === 'platform' ? '/platform/developers' : '/developers'}><Trans>Show endpoints</Trans></ButtonLink>}><Trans>Events appear here with every delivery attempt. Send a test event to try it.</Trans></Empty></div>}
      </div>
    </Page>
  )
}
