import { useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useFormat } from '../../../app/format'
import { Read } from '../../../ui/Read'
import { seriesQuery, type Point } from './stats'

const width = 620
const left = 56
const bottom = 184
const top = 26

/** A round step so that two or three lines cross the chart. */
function step(high: number): number {
  const raw = high / 2.5
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)))
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw) ?? power * 10
}

/** MRR by month as bars; the last one is now. */
export function MrrChart({ currency }: { currency: string }) {
  const points = useQuery(seriesQuery('mrr', 'month', currency))
  return <div className="chart-box"><Read query={points} lines={4}>{(found) => <Drawn points={found} currency={currency} />}</Read></div>
}

function Drawn({ points, currency }: { points: Point[]; currency: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const high = Math.max(1, ...points.map((one) => one.value ?? 0))
  const by = step(high)
  const y = (value: number) => bottom - (value * (bottom - top)) / high
  const room = (width - left - 4) / points.length
  const bar = Math.min(40, room * 0.6)
  const money = (cents: number) => format.money(cents, currency, { whole: true })
  const short = (cents: number) => format.short(cents, currency)
  const known = points.filter((one) => one.value !== null)
  const first = known[0]
  const last = known.at(-1)
  const name = format.currency(currency)
  const label = first && last
    ? t`MRR in ${name}: from ${money(first.value ?? 0)} in ${format.monthWithYear(first.on)} to ${money(last.value ?? 0)} today`
    : t`MRR in ${name}: nothing yet`
  const lines = Array.from({ length: Math.floor(high / by) + 1 }, (_, i) => i * by)
  return (
    <svg className="chart mrr" viewBox={`0 0 ${width} 208`} role="img" aria-label={label}>
      {lines.map((value) => (
        <g key={value}>
          <line className="grid" x1={left - 4} x2={width} y1={y(value)} y2={y(value)} />
          <text x="0" y={y(value) + 4}>{short(value)}</text>
        </g>
      ))}
      {points.map((one, i) => {
        const x = left + i * room + (room - bar) / 2
        const now = i === points.length - 1
        const value = one.value ?? 0
        return (
          <g key={one.on}>
            <title>{`${format.monthWithYear(one.on)}: ${one.value === null ? '–' : money(value)}`}</title>
            <rect className={now ? 'b' : 'bt2'} x={x} y={Math.min(y(value), bottom - 1)} width={bar} height={Math.max(1, bottom - y(value))} rx="2" />
            <text x={x + bar / 2} y="202" textAnchor="middle">{format.shortMonth(one.on)}</text>
            {now && one.value !== null && <text className="strong" x={width} y={y(value) - 7} textAnchor="end">{money(value)}</text>}
          </g>
        )
      })}
    </svg>
  )
}
