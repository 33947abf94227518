import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Schema } from '../../api/client'
import { now } from '../../app/clock'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { Segments } from '../../ui/Field'
import { Empty } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { Chart } from './Chart'
import { intervalOf, ranges, spanName, startOf, type Counted, type Range } from './series'

/** The query of a series. */
export interface SeriesQuery {
  meter_code: string
  interval: Schema<'SeriesInterval'>
  from: string
}

function Figures({ points, meter, range }: { points: Schema<'SeriesPoint'>[]; meter: Counted; range: Range }) {
  const format = useFormat()
  const quantity = (value: number) => format.quantity(Number(value.toPrecision(6)), meter.unit)
  const busiest = points.reduce((most, one) => (one.value > most.value ? one : most), points[0]!)
  const average = points.reduce((sum, one) => sum + one.value, 0) / points.length
  const day = spanName(busiest.at, range, format, true)
  return (
    <dl className="figs">
      <div><dt>{meter.start ? <Trans>This period</Trans> : <Trans>Now</Trans>}</dt><dd>{quantity(meter.used)}</dd></div>
      <div><dt><Trans>Limit</Trans></dt><dd>{meter.limit === null ? <Trans>None</Trans> : quantity(meter.limit)}</dd></div>
      <div><dt>{range === '12' ? <Trans>Average per month</Trans> : <Trans>Average per day</Trans>}</dt><dd>{format.quantity(Number(average.toPrecision(3)), meter.unit)}</dd></div>
      <div><dt>{range === '12' ? <Trans>Busiest month</Trans> : <Trans>Busiest day</Trans>}</dt><dd>{quantity(busiest.value)} <span>{day}</span></dd></div>
    </dl>
  )
}

function Table({ points, meter, range }: { points: Schema<'SeriesPoint'>[]; meter: Counted; range: Range }) {
  const format = useFormat()
  return (
    <details className="as-table">
      <summary><Trans>Show as table</Trans></summary>
      <table className="table">
        <thead><tr><th scope="col">{range === '12' ? <Trans>Month</Trans> : <Trans>Day</Trans>}</th><th scope="col" className="num">{meter.name}</th></tr></thead>
        <tbody>
          {points.toReversed().map((one) => <tr key={one.at}><td>{spanName(one.at, range, format)}</td><td className="num">{format.quantity(one.value, meter.unit)}</td></tr>)}
        </tbody>
      </table>
    </details>
  )
}

/** The usage of one meter over time. The meter and the range are in the URL. */
export function History({ meters, whose, read, end }: {
  meters: Counted[]
  /** Identifies the tenant in the cache. */
  whose: string
  read: (query: SeriesQuery) => Promise<Schema<'UsageSeries'>>
  /** Next to the range: the export. */
  end?: (meter: Counted) => ReactNode
}) {
  const { t } = useLingui()
  const format = useFormat()
  const [search, filter] = useFilters()
  const meter = meters.find((one) => one.code === search.meter) ?? meters[0]
  const range = ranges.find((one) => one === search.range) ?? '30'
  const query = { meter_code: meter?.code ?? '', interval: intervalOf(range), from: startOf(range, new Date(now())) }
  const series = useQuery({ queryKey: ['usage', 'history', whose, query], queryFn: () => read(query), enabled: !!meter, placeholderData: (before) => (before?.meter_code === query.meter_code ? before : undefined) })
  if (!meter) return null
  return (
    <section className="sec" id="history" aria-labelledby="history-title">
      <div className="sec-head hist-head">
        <h2 id="history-title"><Trans>History</Trans></h2>
        <div className="end">
          <select className="select dense" aria-label={t`Meter`} value={meter.code} onChange={(event) => filter({ meter: event.target.value }, { replace: true })}>
            {meters.map((one) => <option key={one.code} value={one.code}>{one.name}</option>)}
          </select>
          <Segments
            className="s" label={t`Range`} value={range} onChange={(to) => filter({ range: to === '30' ? undefined : to }, { replace: true })}
            options={[{ value: '30', label: t`30 days` }, { value: '90', label: t`90 days` }, { value: '12', label: t`12 months` }]}
          />
          {end?.(meter)}
        </div>
      </div>
      <Read query={series} lines={6}>
        {({ points }) => {
          if (!points.some((one) => one.value > 0)) {
            return (
              <Empty slim level="h3" icon="gauge" title={meter.used > 0 ? <Trans>No usage in this period</Trans> : <Trans>No usage yet</Trans>}>
                <Trans>Usage of {meter.name} appears here as soon as it is recorded.</Trans>
              </Empty>
            )
          }
          const busiest = points.reduce((most, one) => (one.value > most.value ? one : most))
          const [first, last] = [spanName(points[0]!.at, range, format), spanName(points.at(-1)!.at, range, format)]
          const [most, day] = [format.quantity(busiest.value, meter.unit), spanName(busiest.at, range, format)]
          const summary = t`${meter.name} from ${first} to ${last}. Highest: ${most} on ${day}. The table below has every value.`
          return (
            <>
              <Chart points={points} meter={meter} range={range} summary={summary} />
              <Figures points={points} meter={meter} range={range} />
              <Table points={points} meter={meter} range={range} />
            </>
          )
        }}
      </Read>
    </section>
  )
}
