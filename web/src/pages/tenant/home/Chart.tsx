import { useLingui } from '@lingui/react/macro'
import { useFormat } from '../../../app/format'
import { useWords } from '../shared/words'
import type { Gauge, Period } from './meters'

const width = 466
const ground = 190
const top = 30

/** A meter day by day against its limit, with the forecast as a dotted line. */
export function Chart({ gauge, period }: { gauge: Gauge; period: Period }) {
  const { t } = useLingui()
  const words = useWords()
  const format = useFormat()
  const span = period.end.getTime() - period.start.getTime()
  const most = Math.max(gauge.limit ?? 0, gauge.forecast ?? 0, gauge.used, 1)
  const x = (at: number) => (Math.min(1, Math.max(0, at)) * width)
  const y = (value: number) => ground - (value / most) * (ground - top)
  const place = (at: number) => (at - period.start.getTime()) / span
  const here = x(place(period.now.getTime()))
  const points = [...gauge.days.slice(0, -1), gauge.used]
  const step = points.length > 1 ? here / (points.length - 1) : 0
  const path = points.map((value, i) => `${i === 0 ? 'M' : 'L'}${(points.length > 1 ? i * step : here).toFixed(1)} ${y(value).toFixed(1)}`).join('')
  const over = gauge.limit !== null && (gauge.forecast ?? 0) > gauge.limit
  const colour = over ? 'var(--warn)' : 'var(--fill-2)'
  const used = words.quantity(gauge.used, gauge.unit)
  const limit = gauge.limit === null ? '' : words.quantity(gauge.limit, gauge.unit)
  const forecast = gauge.forecast === undefined ? '' : words.quantity(gauge.forecast, gauge.unit)
  const end = format.day(period.end)
  const told = forecast ? t`${gauge.name}: ${used} so far, about ${forecast} on ${end} at today’s pace` : t`${gauge.name}: ${used} so far`
  const ticks = [1 / 3, 2 / 3].map((at) => ({ at, text: format.shortDay(new Date(period.start.getTime() + at * span)) }))
  // The figure is next to its point, on the side with more room.
  const right = here > width * 0.72
  return (
    <svg className="chart" viewBox="0 0 470 212" role="img" aria-label={gauge.limit === null ? told : `${told}. ${t`The limit is ${limit}.`}`}>
      <line className="grid" x1="0" x2={width} y1={ground} y2={ground} />
      {gauge.limit !== null && (
        <>
          <line className="lim" x1="0" x2={width} y1={y(gauge.limit)} y2={y(gauge.limit)} />
          <text x="0" y={y(gauge.limit) - 6}>{t`Limit ${limit}`}</text>
        </>
      )}
      <path className="area-f" d={`${path}L${here.toFixed(1)} ${ground}L0 ${ground}Z`} />
      <path className="line" d={path} />
      {gauge.forecast !== undefined && (
        <>
          <path className="line" style={{ strokeDasharray: '2 4', stroke: colour }} d={`M${here.toFixed(1)} ${y(gauge.used).toFixed(1)}L${width} ${y(gauge.forecast).toFixed(1)}`} />
          <text x={width} y={y(gauge.forecast) - 8} textAnchor="end" style={{ fill: over ? 'var(--warn)' : undefined }}>≈ {format.number(gauge.forecast)}</text>
        </>
      )}
      <circle className="here" cx={here} cy={y(gauge.used)} r="3.25" />
      <text className="strong" x={right ? here - 9 : here + 9} textAnchor={right ? 'end' : 'start'} y={y(gauge.used) + (right ? -9 : 13)}>{t`${used} today`}</text>
      <text x="0" y="208">{format.shortDay(period.start)}</text>
      {ticks.map(({ at, text }) => <text key={at} x={at * width} y="208" textAnchor="middle">{text}</text>)}
      <text x={width} y="208" textAnchor="end">{format.shortDay(period.end)}</text>
    </svg>
  )
}
