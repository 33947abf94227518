import { useState, type KeyboardEvent } from 'react'

interface Bar {
  /** Below the bar; may be empty. */
  label: string
  /** The span and the value in words, shown on hover and focus. */
  told: string
  value: number
}

const width = 620
const ground = 184
const top = 26
const left = 50

/** Returns the ticks of an axis: a few round values up to the largest. */
function ticks(most: number): number[] {
  if (most <= 0) return [0]
  const rough = most / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough)!
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step)
}

/**
 * Bars over time, the last one emphasized. Arrow keys move between bars; the selected one is
 * described above.
 */
export function BarChart({ bars, summary, axis, show }: {
  bars: Bar[]; summary: string
  /** Formats a tick of the axis. */
  axis: (value: number) => string
  /** Formats the value above a bar. */
  show: (value: number) => string
}) {
  const [at, setAt] = useState<number>()
  const most = Math.max(...bars.map((one) => one.value), 0)
  const marks = ticks(most)
  const scale = Math.max(most, marks.at(-1)!) || 1
  const y = (value: number) => ground - (Math.max(0, value) / scale) * (ground - top)
  const step = (width - left) / bars.length
  const size = Math.max(3, Math.min(26, step * 0.62))
  const x = (i: number) => left + step * i + (step - size) / 2
  const shown = at ?? bars.length - 1
  const one = bars[shown]

  function go(event: KeyboardEvent) {
    const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: bars.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setAt(Math.min(bars.length - 1, Math.max(0, to)))
  }
  return (
    <div className="barchart" role="slider" tabIndex={0} aria-label={summary} aria-valuemin={1} aria-valuemax={bars.length} aria-valuenow={shown + 1} aria-valuetext={one?.told} onKeyDown={go} onBlur={() => setAt(undefined)} onPointerLeave={() => setAt(undefined)}>
      <svg className="chart mrr" viewBox={`0 0 ${width} 208`} aria-hidden="true">
        {marks.map((mark) => (
          <g key={mark}><line className="grid" x1={left} x2={width} y1={y(mark)} y2={y(mark)} /><text x="0" y={y(mark) + 4}>{axis(mark)}</text></g>
        ))}
        {bars.map((bar, i) => (
          <g key={i} onPointerEnter={() => setAt(i)}>
            <rect x={left + step * i} y={top - 10} width={step} height={ground - top + 10} fill="transparent" />
            <rect className={i === shown ? 'b' : 'bt2'} x={x(i)} y={y(bar.value)} width={size} height={Math.max(0, ground - y(bar.value))} rx="2" />
            {bar.label && <text x={x(i) + size / 2} y="202" textAnchor="middle">{bar.label}</text>}
          </g>
        ))}
        {one && (
          <text className="strong" x={Math.min(width, Math.max(left + 30, x(shown) + size))} y={y(one.value) - 7} textAnchor="end">{show(one.value)}</text>
        )}
      </svg>
    </div>
  )
}
