import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useId, type ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { Icon } from '../../../ui/Icon'
import { statsQuery } from '../home/stats'
import { conversion, customerChurn, lastComplete, revenueChurn, revenueLost } from './figures'
import { monthsBefore, thisMonth, type Found, type Month } from './reads'
import { useDefinitions, type FigureName } from './words'

interface TileProps {
  of: FigureName
  value: ReactNode
  /** The change, with an arrow. Screen readers get it from the words. */
  delta?: { by: number; bad?: boolean; text: ReactNode }
  below?: ReactNode
  to: LinkProps['to']
  search?: Record<string, string | undefined>
  hash?: string
}

/** A figure with its definition. It leads to the list that explains it. */
function Tile({ of, value, delta, below, to, search, hash }: TileProps) {
  const { t } = useLingui()
  const id = useId()
  const { name, text } = useDefinitions()[of]
  return (
    <div className="tile">
      <span className="lab">
        <Link to={to} search={search as never} hash={hash} activeProps={{}}>{name}</Link>
        <button type="button" popoverTarget={id} aria-label={t`Definition: ${name}`}><Icon name="info" /></button>
        <span className="def" id={id} popover="auto"><b>{name}</b>{text}</span>
      </span>
      <b>{value}</b>
      {delta && <span className={`delta ${delta.by > 0 ? 'up' : delta.by < 0 ? 'down' : ''} ${delta.bad ? 'worse' : ''}`}>{delta.text}</span>}
      {below && <span className="sub">{below}</span>}
    </div>
  )
}

/** The words for a share that rose or fell since a month. Without a share of that month there are none. */
function usePoints() {
  const format = useFormat()
  return (now: number | null, before: number | null, month: string | undefined, more: 'good' | 'bad'): TileProps['delta'] => {
    if (now === null || before === null || !month) return undefined
    const by = Math.round((now - before) * 1000) / 10
    const size = format.number(Math.abs(by))
    const name = format.utc.monthOnly(`${month}-01`)
    const bad = by !== 0 && (by > 0) === (more === 'bad')
    return { by, bad, text: by > 0 ? <Trans>{size} points above {name}</Trans> : by < 0 ? <Trans>{size} points below {name}</Trans> : <Trans>Same as in {name}</Trans> }
  }
}

/** The figures of size and health. */
export function Figures({ of: { data, meta, scope }, span }: { of: Found; span: Record<string, string | undefined> }) {
  const format = useFormat()
  const points = usePoints()
  const stats = useQuery(statsQuery)
  const currency = meta.currency!
  const first = data.months[0]!
  const [last, before] = lastComplete(data, thisMonth())
  const start = format.utc.dayOnly(`${first.month}-01`)
  const money = (amount: number) => format.about(amount, currency)
  const percent = (value: number | null) => (value === null ? '–' : format.percent(value))
  const trials = scope.plan || scope.currency ? 0 : stats.data?.tenants.by_subscription.trialing ?? 0
  const subscriptions = data.by_plan.reduce((sum, one) => sum + one.subscriptions, 0)
  const arpuThen = first.customers_opening > 0 ? Math.round(first.opening / first.customers_opening) : null
  const since = (by: number, size: string): TileProps['delta'] => ({
    by, bad: by < 0, text: by === 0 ? <Trans>Same as on {start}</Trans> : <Trans>{size} since {start}</Trans>,
  })
  const grown = data.mrr - first.opening
  const growth = first.opening > 0 ? format.percent(Math.abs(grown) / first.opening) : money(Math.abs(grown))
  const customers = data.customers - first.customers_opening
  const arpu = data.arpu !== null && arpuThen !== null ? data.arpu - arpuThen : 0
  const of = (one: Month | undefined) => (one ? format.first(format.utc.monthOnly(`${one.month}-01`)) : '')
  const list = (kind: string, one: Month | undefined) => ({ to: '/platform/analytics' as const, search: { ...span, month: one?.month, kind }, hash: 'movements' })
  const paying = { to: '/platform/tenants' as const, search: { sort: '-mrr' } }
  const [name, churned, opening, lost, base, converted, ended] = [
    of(last), format.number(last?.customers_churned ?? 0), format.number(last?.customers_opening ?? 0), money(last ? revenueLost(last) : 0), money(last?.opening ?? 0),
    format.number(last?.trials_converted ?? 0), format.number(last?.trials_ended ?? 0),
  ]
  const yearAgo = format.utc.monthWithYear(`${monthsBefore(meta.to, 12)}-01`)
  return (
    <div className="eight">
      <Tile of="mrr" value={money(data.mrr)} {...paying} delta={since(grown, growth)} below={plural(subscriptions, { one: '# subscription', other: '# subscriptions' })} />
      <Tile of="arr" value={money(data.arr)} {...paying} delta={since(grown, money(Math.abs(grown * 12)))} below={<Trans>MRR × 12</Trans>} />
      <Tile of="customers" value={format.number(data.customers)} {...paying} delta={since(customers, format.number(Math.abs(customers)))} below={trials > 0 && plural(trials, { one: '# more in trial', other: '# more in trial' })} />
      <Tile of="arpu" value={data.arpu === null ? '–' : format.money(data.arpu, currency)} {...paying} delta={data.arpu === null || arpuThen === null ? undefined : since(arpu, format.money(Math.abs(arpu), currency))} below={<Trans>Per customer and month</Trans>} />
      <Tile of="retention" value={percent(data.net_revenue_retention)} to="/platform/analytics" search={span} hash="retention" below={data.net_revenue_retention === null ? <Trans>Needs customers of {yearAgo}</Trans> : <Trans>Customers of {yearAgo}</Trans>} />
      <Tile
        of="customerChurn" value={percent(last ? customerChurn(last) : null)} {...list('churn', last)} delta={points(last ? customerChurn(last) : null, before ? customerChurn(before) : null, before?.month, 'bad')}
        below={<Trans>{name}: {churned} of {opening} customers</Trans>}
      />
      <Tile
        of="revenueChurn" value={percent(last ? revenueChurn(last) : null)} {...list('churn', last)} delta={points(last ? revenueChurn(last) : null, before ? revenueChurn(before) : null, before?.month, 'bad')}
        below={<Trans>{name}: {lost} of {base}</Trans>}
      />
      <Tile
        of="conversion" value={percent(last ? conversion(last) : null)} to="/platform/tenants" search={{ status: 'trialing' }} delta={points(last ? conversion(last) : null, before ? conversion(before) : null, before?.month, 'good')}
        below={<Trans>{name}: {converted} of {ended} trials</Trans>}
      />
    </div>
  )
}

/** All definitions, to read one after the other. */
export function Definitions() {
  const all = useDefinitions()
  return (
    <section className="sec" id="definitions">
      <div className="sec-head"><h2><Trans>Definitions</Trans></h2></div>
      <dl className="defs">{Object.values(all).map((one) => <div key={one.name}><dt>{one.name}</dt><dd>{one.text}</dd></div>)}</dl>
    </section>
  )
}
