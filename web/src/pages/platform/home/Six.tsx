import { Plural, Trans } from '@lingui/react/macro'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { checks, type Check } from './checks'
import { Spark } from './Spark'
import type { Stats } from './stats'

function Figure({ to, search, hash, label, value, chart, children }: {
  to: LinkProps['to']; search?: Record<string, string>; hash?: string; label: ReactNode; value: ReactNode; chart: ReactNode; children: ReactNode
}) {
  return (
    <Link to={to} search={search as never} hash={hash}>
      <span className="lab">{label}</span>
      <span className="fig"><b>{value}</b>{chart}</span>
      {children}
    </Link>
  )
}

/** The direction of a change as an arrow; bad where more is worse. */
const direction = (change: number, bad = false) => `delta ${change > 0 ? `up ${bad ? 'worse' : ''}` : change < 0 ? 'down' : ''}`

function Pulse({ all }: { all: Check[] }) {
  return (
    <svg className="chart" viewBox="0 0 112 32" aria-hidden="true">
      {all.map((one, i) => one.status === 'ok'
        ? <rect key={one.key} className="b" x={28 + i * 14} y="18" width="10" height="12" rx="2" />
        : <rect key={one.key} className={one.status === 'error' ? 'bx' : 'bw'} x={28 + i * 14} y="6" width="10" height="24" rx="2" />)}
    </svg>
  )
}

/** The six numbers, each the way into its list. */
export function Six({ stats }: { stats: Stats }) {
  const format = useFormat()
  const { tenants, subscriptions, failed_payments: failed, quota_refusals: refusals } = stats
  const [mrr, ...others] = [...stats.mrr].sort((a, b) => b.amount_cents - a.amount_cents)
  const all = checks(stats, format)
  const ok = all.filter((one) => one.status === 'ok').length
  const trouble = all.find((one) => one.status === 'error') ?? all.find((one) => one.status === 'warning')
  const change = mrr?.change_cents
  const open = format.list(failed.amounts.map((one) => format.sum(one)))
  const share = refusals.count_before > 0 ? (refusals.count - refusals.count_before) / refusals.count_before : null
  return (
    <div className="six">
      <Figure to="/platform/tenants" label={<Trans>Tenants</Trans>} value={format.number(tenants.total)} chart={<Spark figure="tenants" />}>
        <span className={direction(tenants.new)}><Trans>{format.number(tenants.new)} new in 30 days, {format.number(tenants.new_before)} in the 30 before</Trans></span>
      </Figure>
      <Figure to="/platform" hash="subscriptions" label={<Trans>Active subscriptions</Trans>} value={format.number(subscriptions.active)} chart={<Spark figure="active" />}>
        <span className={direction(subscriptions.active_change ?? 0)}>
          {subscriptions.active_change === null
            ? <Trans>{format.number(subscriptions.trialing)} more in trial</Trans>
            : <Trans>{format.number(subscriptions.active_change)} in 30 days, {format.number(subscriptions.trialing)} more in trial</Trans>}
        </span>
      </Figure>
      <Figure
        to="/platform" hash="mrr" label={<Trans>Monthly recurring revenue</Trans>}
        value={mrr ? format.money(mrr.amount_cents, mrr.currency, { whole: true }) : '–'} chart={mrr ? <Spark figure="mrr" currency={mrr.currency} /> : null}
      >
        <span className={direction(change ?? 0)}>
          {change !== null && change !== undefined && mrr && <Trans>{format.money(change, mrr.currency, { whole: true })} in 30 days</Trans>}
          {change !== null && change !== undefined && others.length > 0 && ', '}
          {others.length > 0 && <Trans>and {format.list(others.map((one) => format.money(one.amount_cents, one.currency, { whole: true })))}</Trans>}
          {!mrr && <Trans>Nobody pays yet</Trans>}
        </span>
      </Figure>
      <Figure to="/platform/activity" search={{ kind: 'payments' }} label={<Trans>Failed payments</Trans>} value={format.number(failed.open)} chart={<Spark figure="failed_payments" bars bad={failed.open > 0} />}>
        <span className={failed.open > 0 ? direction(failed.new, true) : 'delta'}>
          {failed.open === 0 ? <Trans>Nothing is open</Trans> : <Trans>{format.number(failed.new)} since yesterday, {open} open</Trans>}
        </span>
      </Figure>
      <Figure to="/platform/activity" search={{ kind: 'usage' }} label={<Trans>Quota refusals, 24 hours</Trans>} value={format.number(refusals.count)} chart={<Spark figure="quota_refusals" bars />}>
        <span className={direction(refusals.count - refusals.count_before)}>
          {share !== null && share < 0 && <Trans>{format.percent(-share)} less than the day before</Trans>}
          {share !== null && share > 0 && <Trans>{format.percent(share)} more than the day before</Trans>}
          {share === null && refusals.count_before === 0 && <Trans>None the day before</Trans>}
          {share === 0 && <Trans>As the day before</Trans>}
          {refusals.tenants > 0 && <>, <Plural value={refusals.tenants} one="# tenant" other="# tenants" /></>}
        </span>
      </Figure>
      <Figure to="/platform" hash="health" label={<Trans>Health</Trans>} value={<Trans>{ok} of {all.length}</Trans>} chart={<Pulse all={all} />}>
        <span className="delta"><span className={`st ${trouble?.status === 'error' ? 'bad' : trouble ? 'warn' : 'good'} small`}>{trouble ? `${trouble.label}: ${trouble.value}` : <Trans>All is well</Trans>}</span></span>
      </Figure>
    </div>
  )
}

