import { useQuery } from '@tanstack/react-query'
import { seriesQuery, type Figure, type Point } from './stats'

const width = 112
const height = 32

/** A small line whose end is where the figure is now. */
export function Line({ points }: { points: Point[] }) {
  const known = points.flatMap((one, i) => (one.value === null ? [] : [{ i, value: one.value }]))
  if (known.length < 2) return <svg className="chart" viewBox={`0 0 ${width} ${height}`} aria-hidden="true" />
  const values = known.map((one) => one.value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const x = (i: number) => 2 + (i * (width - 8)) / Math.max(1, points.length - 1)
  const y = (value: number) => (high === low ? height / 2 : height - 4 - ((value - low) * (height - 9)) / (high - low))
  const path = known.map((one, n) => `${n ? 'L' : 'M'}${x(one.i).toFixed(1)} ${y(one.value).toFixed(1)}`).join('')
  const last = known.at(-1)!
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path className="line" d={path} />
      <circle className="here" cx={x(last.i)} cy={y(last.value)} r="2.75" />
    </svg>
  )
}

/** Small bars of the last two weeks; the last one is today's. */
export function Bars({ points, bad }: { points: Point[]; bad?: boolean }) {
  const shown = points.slice(-14)
  const high = Math.max(1, ...shown.map((one) => one.value ?? 0))
  return (
    <svg className="chart" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {shown.map((one, i) => {
        const value = one.value ?? 0
        const tall = value === 0 ? 1 : Math.max(3, (value * (height - 3)) / high)
        const look = value === 0 ? 'bt' : i < shown.length - 1 ? 'b2' : bad ? 'bx' : 'b'
        return <rect key={one.on} className={look} x={1 + i * 8} y={height - tall} width="6" height={tall} rx="1" />
      })}
    </svg>
  )
}

/** The course of a figure, once it is known. It says nothing that the figure beside it does not say. */
export function Spark({ figure, currency, bars, bad }: { figure: Figure; currency?: string; bars?: boolean; bad?: boolean }) {
  const points = useQuery(seriesQuery(figure, 'day', currency)).data ?? []
  return bars ? <Bars points={points} bad={bad} /> : <Line points={points} />
}
