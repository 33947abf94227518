const width = 112
const ground = 28
const top = 5

/** The history of a figure as a line. It is decorative: the figure is next to it. */
export function SparkLine({ values }: { values: number[] }) {
  if (values.length < 2) return null
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const x = (i: number) => 2 + (i * (width - 8)) / (values.length - 1)
  const y = (value: number) => (most === least ? (ground + top) / 2 : ground - ((value - least) / (most - least)) * (ground - top))
  const path = values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('')
  return (
    <svg className="chart" viewBox={`0 0 ${width} 32`} aria-hidden="true">
      <path className="line" d={path} />
      <circle className="here" cx={x(values.length - 1)} cy={y(values.at(-1)!)} r="2.75" />
    </svg>
  )
}

/** The last days as bars, with the last one emphasized. */
export function SparkBars({ values, bad }: { values: number[]; bad?: boolean }) {
  if (values.length === 0) return null
  const most = Math.max(...values, 1)
  const step = width / values.length
  return (
    <svg className="chart" viewBox={`0 0 ${width} 32`} aria-hidden="true">
      {values.map((value, i) => {
        const height = value === 0 ? 1 : Math.max(3, (value / most) * 29)
        const last = i === values.length - 1
        const look = value === 0 ? 'bt' : last ? (bad ? 'bx' : 'b') : 'b2'
        return <rect key={i} className={look} x={i * step + 1} y={32 - height} width={step - 2} height={height} rx="1" />
      })}
    </svg>
  )
}

/** A mark for each check. Failed checks are higher. */
export function SparkChecks({ tones }: { tones: string[] }) {
  const step = width / Math.max(tones.length, 8)
  const left = width - tones.length * step
  return (
    <svg className="chart" viewBox={`0 0 ${width} 32`} aria-hidden="true">
      {tones.map((tone, i) => {
        // A check without a result is neither good nor bad: low and faint.
        const [look, high] = { good: ['b', 12], plain: ['bf', 4] }[tone] ?? [tone === 'bad' ? 'bx' : 'bw', 24]
        return <rect key={i} className={String(look)} x={left + i * step + 2} y={30 - Number(high)} width={step - 4} height={high} rx="2" />
      })}
    </svg>
  )
}
