import { useLingui } from '@lingui/react/macro'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { spanName, ticks, type Counted, type Range } from './series'

interface Props {
  points: Schema<'SeriesPoint'>[]
  meter: Counted
  range: Range
  summary: string
}

/** Bars over time: this period in ink, earlier ones lighter, with a mark at the reset. */
function Bars({ points, meter, range, summary, width, height, every, className }: Props & { width: number; height: number; every: number; className: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const marks = ticks(Math.max(...points.map((one) => one.value), 0))
  const labels = marks.map((mark) => format.number(mark))
  const left = 14 + 7 * Math.max(...labels.map((one) => one.length))
  const [top, ground] = [22, height - 22]
  const scale = marks.at(-1) || 1
  const y = (value: number) => ground - (Math.max(0, value) / scale) * (ground - top)
  const step = (width - left - 8) / points.length
  const size = Math.min(36, step * 0.7)
  const start = meter.start && range !== '12' ? meter.start.slice(0, 10) : undefined
  const first = start === undefined ? 0 : points.findIndex((one) => one.at.slice(0, 10) >= start)
  const late = first > points.length * 0.8
  return (
    <svg className={`chart hist ${className}`} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary}>
      {marks.map((mark, i) => (
        <g key={mark}><line className="grid" x1={left} x2={width} y1={y(mark)} y2={y(mark)} /><text x={left - 8} y={y(mark) + 4} textAnchor="end">{labels[i]}</text></g>
      ))}
      {first > 0 && <><line className="reset" x1={left + step * first} x2={left + step * first} y1={8} y2={ground} /><text x={left + step * first + (late ? -5 : 5)} y={15} textAnchor={late ? 'end' : 'start'}>{t`Reset`}</text></>}
      {points.map((one, i) => (
        <g key={one.at}>
          <rect className={i >= first && first >= 0 ? 'b' : 'b2'} x={left + step * i + (step - size) / 2} y={y(one.value)} width={size} height={Math.max(0, ground - y(one.value))} rx="1.5">
            <title>{`${spanName(one.at, range, format)}: ${format.quantity(one.value, meter.unit)}`}</title>
          </rect>
          {(points.length - 1 - i) % every === 0 && <text x={left + step * (i + 0.5)} y={height - 4} textAnchor="middle">{spanName(one.at, range, format, true)}</text>}
        </g>
      ))}
    </svg>
  )
}

/** The chart of a history: all points, or on a phone the last 14. */
export function Chart(props: Props) {
  const { points, range } = props
  return (
    <>
      <Bars {...props} className="wide-chart" width={992} height={232} every={range === '30' ? 4 : range === '90' ? 12 : 1} />
      <Bars {...props} points={points.slice(-14)} className="phone-chart" width={358} height={208} every={range === '12' ? 3 : 4} />
    </>
  )
}
