import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { ButtonLink } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Read } from '../../../ui/Read'
import { Segments } from '../../../ui/Field'
import { BarChart } from './BarChart'
import { lastDays, seriesQuery, type Mrr, type Point, type Stats } from './stats'

/** Returns the currency in the URL, otherwise the one with the most revenue. */
function useCurrency(mrr: Mrr[]): Mrr | undefined {
  const [search] = useFilters()
  return mrr.find((one) => one.currency === search.currency) ?? mrr[0]
}

function Chart({ points, currency, daily }: { points: Point[]; currency: string; daily: boolean }) {
  const { t } = useLingui()
  const format = useFormat()
  const name = format.currency(currency)
  const span = (at: string) => (daily ? format.day(at) : format.monthWithYear(at))
  const [first, last] = [points[0]!, points.at(-1)!]
  const from = format.about(first.value, currency)
  const to = format.about(last.value, currency)
  const begin = span(first.at)
  const summary = t`Monthly recurring revenue in ${name}: ${from} (${begin}), ${to} now`
  const bars = points.map(({ at, value }, i) => ({
    value, label: daily ? ((points.length - 1 - i) % 7 === 0 ? format.shortDay(at) : '') : format.shortMonth(at), told: `${span(at)}: ${format.about(value, currency)}`,
  }))
  return (
    <>
      <BarChart bars={bars} summary={summary} axis={(value) => format.compact(value, currency)} show={(value) => format.about(value, currency)} />
      <details className="behind">
        <summary><Trans>Show data as a table</Trans></summary>
        <table className="table">
          <thead><tr><th scope="col">{daily ? <Trans>Day</Trans> : <Trans>Month</Trans>}</th><th scope="col" className="num"><Trans>Monthly recurring revenue</Trans></th></tr></thead>
          <tbody>{points.toReversed().map(({ at, value }) => <tr key={at}><td>{span(at)}</td><td className="num">{format.money(value, currency)}</td></tr>)}</tbody>
        </table>
      </details>
    </>
  )
}

function Moved({ of, at }: { of: Mrr; at: string }) {
  const format = useFormat()
  const day = format.day(new Date(Date.parse(at) - 30 * 86_400_000))
  const moved = (amount: number) => format.money(amount, of.currency, { sign: true })
  return (
    <dl className="sums">
      <div><dt><Trans>On {day}</Trans></dt><dd>{format.money(of.amount_30_days_ago, of.currency)}</dd></div>
      <div><dt><Trans>New customers</Trans></dt><dd>{moved(of.new)}</dd></div>
      <div><dt><Trans>More seats, larger plans</Trans></dt><dd>{moved(of.expansion)}</dd></div>
      <div><dt><Trans>Fewer seats, smaller plans</Trans></dt><dd>{moved(of.contraction)}</dd></div>
      <div><dt><Trans>Ended</Trans></dt><dd>{moved(of.ended)}</dd></div>
      <div className="tot"><dt><Trans>Now</Trans></dt><dd>{format.money(of.amount, of.currency)}</dd></div>
    </dl>
  )
}

/** The place of the chart and its table while they are read, so that the page below does not move. */
function Waiting() {
  return <div aria-busy="true"><svg className="chart mrr" viewBox="0 0 620 208" aria-hidden="true" /><p className="behind">&nbsp;</p></div>
}

/** The monthly recurring revenue over time in a currency, and its movements. */
export function Revenue({ of }: { of: Stats }) {
  const { t } = useLingui()
  const format = useFormat()
  const [search, change] = useFilters()
  const chosen = useCurrency(of.mrr)
  const daily = search.span === 'month'
  const series = useQuery({
    ...seriesQuery({ figure: 'mrr', currency: chosen?.currency, ...(daily ? lastDays(of.at, 31) : { interval: 'month' }) }),
    enabled: chosen !== undefined,
  })
  if (!chosen) {
    return (
      <section className="sec plain" id="mrr">
        <div className="sec-head"><h2><Trans>Monthly recurring revenue</Trans></h2></div>
        <Empty slim icon="activity" title={<Trans>No recurring revenue yet</Trans>} actions={<ButtonLink size="s" to="/platform/catalog"><Trans>Open catalog</Trans></ButtonLink>}><Trans>Your monthly revenue and its trend appear here after the first subscription.</Trans></Empty>
      </section>
    )
  }
  const set = (name: string, value: string | undefined) => change({ [name]: value }, { replace: true })
  return (
    <div className="split sec plain" id="mrr">
      <section>
        <div className="sec-head chart-head">
          <h2><Trans>Monthly recurring revenue</Trans></h2>
          {of.mrr.length > 1 && (
            <select className="select dense w-auto" aria-label={t`Currency`} value={chosen.currency} onChange={(event) => set('currency', event.target.value === of.mrr[0]!.currency ? undefined : event.target.value)}>
              {of.mrr.map((one) => <option key={one.currency} value={one.currency}>{format.currency(one.currency)}</option>)}
            </select>
          )}
          <Segments
            className="end" label={t`Time range`} value={daily ? 'month' : 'year'} onChange={(to) => set('span', to === 'month' ? to : undefined)}
            options={[{ value: 'month', label: t`30 days` }, { value: 'year', label: t`Year` }]}
          />
        </div>
        {series.isPending ? <Waiting /> : <Read query={series}>
          {(found) => {
            const points = found.find((one) => one.currency === chosen.currency)?.points ?? []
            return points.length > 0 ? <Chart points={points} currency={chosen.currency} daily={daily} /> : <p className="t13 muted"><Trans>No data for this period.</Trans></p>
          }}
        </Read>}
      </section>
      <section>
        <div className="sec-head"><h2><Trans>Change over 30 days</Trans></h2><span className="end"><Link to="/platform/analytics"><Trans>All figures</Trans></Link></span></div>
        <Moved of={chosen} at={of.at} />
      </section>
    </div>
  )
}
