import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { Status } from '../../../ui/Status'
import { checksOf } from './health'
import { SparkBars, SparkChecks, SparkLine } from './Spark'
import { lastDays, seriesQuery, type Figure as Name, type Span, type Stats } from './stats'

function Figure({ label, value, spark, to, search, hash, children }: {
  label: ReactNode; value: ReactNode; spark: ReactNode; children: ReactNode
  to: LinkProps['to']; search?: Record<string, string>; hash?: string
}) {
  return (
    <Link to={to} search={(search ?? {}) as never} hash={hash} activeProps={{}}>
      <span className="lab">{label}</span>
      <span className="fig"><b>{value}</b>{spark}</span>
      {children}
    </Link>
  )
}

/** A change from the previous value, with an arrow. Screen readers get it from the words. */
function Delta({ by, worse, children }: { by: number; worse?: boolean; children: ReactNode }) {
  return <span className={`delta ${by > 0 ? 'up' : by < 0 ? 'down' : ''} ${worse ? 'worse' : ''}`}>{children}</span>
}

/** Returns the history of a figure, in the first currency if there are several. */
function useValues(span: Span): number[] {
  return useQuery(seriesQuery(span)).data?.[0]?.points.map((one) => one.value) ?? []
}

const monthly = (figure: Name): Span => ({ figure, interval: 'month' })

function Tenants({ of: { tenants } }: { of: Stats }) {
  const format = useFormat()
  const values = useValues(monthly('tenants'))
  const added = tenants.added_30_days
  return (
    <Figure label={<Trans>Tenants</Trans>} value={format.number(tenants.total)} spark={<SparkLine values={values} />} to="/platform/tenants">
      <Delta by={added}>{plural(added, { one: '# new in 30 days', other: '# new in 30 days' })}</Delta>
    </Figure>
  )
}

function Subscriptions({ of: { subscriptions, tenants } }: { of: Stats }) {
  const format = useFormat()
  const values = useValues(monthly('subscriptions'))
  const by = subscriptions.active - subscriptions.active_30_days_ago
  const size = format.number(Math.abs(by))
  const trial = tenants.by_subscription.trialing
  return (
    <Figure label={<Trans>Active subscriptions</Trans>} value={format.number(subscriptions.active)} spark={<SparkLine values={values} />} to="/platform/tenants">
      <Delta by={by}>
        {by > 0 ? <Trans>{size} more than 30 days ago</Trans> : by < 0 ? <Trans>{size} fewer than 30 days ago</Trans> : <Trans>Same as 30 days ago</Trans>}
        {trial > 0 && <>{', '}{plural(trial, { one: '# in trial', other: '# in trial' })}</>}
      </Delta>
    </Figure>
  )
}

function Revenue({ of: { mrr } }: { of: Stats }) {
  const { t } = useLingui()
  const format = useFormat()
  const [first, ...others] = mrr
  const values = useValues({ ...monthly('mrr'), currency: first?.currency })
  const by = first ? first.amount - first.amount_30_days_ago : 0
  const also = format.list(others.filter((one) => one.amount !== 0).map((one) => format.about(one.amount, one.currency)))
  const size = first ? format.about(Math.abs(by), first.currency) : ''
  return (
    <Figure label={<Trans>Monthly recurring revenue</Trans>} value={first ? format.about(first.amount, first.currency) : t`None yet`} spark={<SparkLine values={values} />} to="/platform" hash="mrr">
      <Delta by={by}>
        {by > 0 ? <Trans>{size} more than 30 days ago</Trans> : by < 0 ? <Trans>{size} less than 30 days ago</Trans> : <Trans>Same as 30 days ago</Trans>}
        {also && <>{', '}<Trans>and {also}</Trans></>}
      </Delta>
    </Figure>
  )
}

function Failed({ of: { failed_payments: failed, at } }: { of: Stats }) {
  const format = useFormat()
  const values = useValues({ figure: 'failed_payments', ...lastDays(at, 14) })
  const by = failed.last_7_days - failed.previous_7_days
  const week = failed.last_7_days
  const open = format.list(failed.amounts.map((one) => format.money(one.amount, one.currency)))
  return (
    <Figure
      label={<Trans>Failed payments</Trans>} value={format.number(failed.open)} spark={<SparkBars values={values} bad />}
      to="/platform/activity" search={{ kind: 'payments' }}
    >
      <Delta by={by} worse={by > 0}>
        {failed.open === 0 && week === 0 ? <Trans>All paid</Trans> : plural(week, { one: '# in 7 days', other: '# in 7 days' })}
        {open && <>{', '}<Trans>{open} open</Trans></>}
      </Delta>
    </Figure>
  )
}

function Refusals({ of: { quota_refusals: refusals, at } }: { of: Stats }) {
  const format = useFormat()
  const values = useValues({ figure: 'quota_refusals', ...lastDays(at, 14) })
  const [now, before] = [refusals.last_24_hours, refusals.previous_24_hours]
  const share = before > 0 ? format.percent(Math.round((Math.abs(now - before) / before) * 100) / 100) : ''
  return (
    <Figure
      label={<Trans>Rejected usage, 24 hours</Trans>} value={format.number(now)} spark={<SparkBars values={values} />}
      to="/platform/activity" search={{ kind: 'usage' }}
    >
      <Delta by={now - before}>
        {now === before ? <Trans>Same as the day before</Trans>
          : before === 0 ? <Trans>None the day before</Trans>
          : now > before ? <Trans>{share} more than the day before</Trans> : <Trans>{share} fewer than the day before</Trans>}
        {refusals.tenants > 0 && <>{', '}{plural(refusals.tenants, { one: '# tenant', other: '# tenants' })}</>}
      </Delta>
    </Figure>
  )
}

function Health({ of }: { of: Stats }) {
  const format = useFormat()
  const checks = checksOf(of.health, format)
  const well = checks.filter((one) => one.tone === 'good').length
  const first = checks.find((one) => one.tone === 'bad') ?? checks.find((one) => one.tone === 'warn')
  const all = checks.length
  const unknown = checks.filter((one) => one.tone === 'plain').length
  return (
    <Figure label={<Trans>Health</Trans>} value={<Trans>{well} of {all}</Trans>} spark={<SparkChecks tones={checks.map((one) => one.tone)} />} to="/platform" hash="health">
      <span className="delta">{first ? <Status tone={first.tone}>{first.trouble}</Status> : unknown > 0 ? plural(unknown, { one: '# not checked yet', other: '# not checked yet' }) : <Trans>No problems</Trans>}</span>
    </Figure>
  )
}

/** Six figures with their changes. Each links to its details. */
export function Figures({ of }: { of: Stats }) {
  return <div className="six"><Tenants of={of} /><Subscriptions of={of} /><Revenue of={of} /><Failed of={of} /><Refusals of={of} /><Health of={of} /></div>
}
