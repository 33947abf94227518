import { Trans, useLingui } from '@lingui/react/macro'
import type { KeyboardEvent, ReactNode } from 'react'
import { useFormat } from '../../../app/format'
import { net } from './figures'
import type { Month } from './reads'

/** Returns the ticks of an axis from the lowest to the highest value, 0 included. */
function ticks(least: number, most: number): number[] {
  const rough = Math.max(most - least, 1) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough)!
  const first = Math.ceil(least / step)
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, i) => (first + i) * step)
}

const gains = (one: Month) => one.new + one.reactivation + one.expansion
const losses = (one: Month) => one.contraction + one.churn

interface Props {
  months: Month[]
  currency: string
  chosen: string
  onChoose: (month: string) => void
}

/** The words for a month, for screen readers and on hover. */
function useTold(currency: string) {
  const { t } = useLingui()
  const format = useFormat()
  return (one: Month) => {
    const money = (amount: number) => format.about(amount, currency, { sign: true })
    const name = format.first(format.utc.monthWithYear(`${one.month}-01`))
    const [fresh, grown, shrunk, lost, all] = [money(one.new + one.reactivation), money(one.expansion), money(one.contraction), money(one.churn), money(net(one))]
    return t`${name}: new ${fresh}, expansion ${grown}, contraction ${shrunk}, churn ${lost}, net ${all}`
  }
}

function Bars({ months, currency, chosen, onChoose, width, className }: Props & { width: number; className: string }) {
  const format = useFormat()
  const told = useTold(currency)
  const [top, ground, left] = [32, 214, 48]
  const most = Math.max(...months.map((one) => Math.max(gains(one), net(one))), 0)
  const least = Math.min(...months.map((one) => Math.min(losses(one), net(one))), 0)
  const marks = ticks(least, most)
  const range = most - least || 1
  const y = (value: number) => top + ((most - value) / range) * (ground - top)
  const step = (width - left) / months.length
  const size = Math.max(3, Math.min(32, step * 0.62))
  // Labels that would overlap are left out, counted from the newest.
  const every = Math.ceil(34 / step)
  const bar = (from: number, to: number, look: string, x: number) => {
    const [high, low] = [y(Math.max(from, to)), y(Math.min(from, to))]
    return from !== to && <rect className={look} x={x} y={high} width={size} height={Math.max(0.75, low - high)} />
  }
  return (
    <svg className={`chart mv ${className}`} viewBox={`0 0 ${width} 238`} aria-hidden="true">
      {marks.map((mark) => (
        <g key={mark}><line className={mark === 0 ? 'zero' : 'grid'} x1={left} x2={width} y1={y(mark)} y2={y(mark)} /><text x="0" y={y(mark) + 4}>{format.compact(mark, currency).replace('-', '−')}</text></g>
      ))}
      {months.map((one, i) => {
        const at = left + step * i
        const x = at + (step - size) / 2
        const hot = one.month === chosen
        const fresh = one.new + one.reactivation
        return (
          <g key={one.month} className="month" onClick={() => onChoose(one.month)}>
            <title>{told(one)}</title>
            <rect className={hot ? 'hot' : 'area'} x={at} y="4" width={step} height="232" rx="4" />
            {bar(0, fresh, 'n', x)}{bar(fresh, fresh + one.expansion, 'e', x)}{bar(0, one.contraction, 'c', x)}{bar(one.contraction, one.contraction + one.churn, 'x', x)}
            {hot && least < 0 && <line className="zero" x1={at} x2={at + step} y1={y(0)} y2={y(0)} />}
            <circle className="net" cx={x + size / 2} cy={y(net(one))} r={size < 8 ? 2.5 : 3.5} />
            {((months.length - 1 - i) % every === 0 || hot) && (!hot || every === 1 || (months.length - 1 - i) % every === 0) && (
              <text className={hot ? 'strong' : undefined} x={at + step / 2} y="232" textAnchor="middle">{format.utc.shortMonth(`${one.month}-01`)}</text>
            )}
            {hot && <text className="strong" x={Math.min(width - 30, Math.max(left + 30, at + step / 2))} y="22" textAnchor="middle">{format.about(net(one), currency, { sign: true })}</text>}
          </g>
        )
      })}
    </svg>
  )
}

const key = (look: ReactNode, label: ReactNode) => <li><svg viewBox="0 0 12 12" className="chart mv" aria-hidden="true">{look}</svg>{label}</li>

/** The pattern of contraction, which is not told apart by color alone. */
const hatch = (
  <svg width="0" height="0" className="defs-only" aria-hidden="true">
    <defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.6" height="4" className="x" /></pattern></defs>
  </svg>
)

/**
 * Gains above, losses below, and the net change as a dot, by month. Arrow keys select a month. A
 * phone shows the last six.
 */
export function Chart(props: Props) {
  const { t } = useLingui()
  const { months, chosen, onChoose, currency } = props
  const told = useTold(currency)
  const at = Math.max(0, months.findIndex((one) => one.month === chosen))
  function go(event: KeyboardEvent) {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: months.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    onChoose(months[Math.min(months.length - 1, Math.max(0, to))]!.month)
  }
  return (
    <>
      {hatch}
      <ul className="chart-keys">
        {key(<rect className="n" width="12" height="12" rx="2" />, <Trans>New and returned</Trans>)}
        {key(<rect className="e" width="12" height="12" rx="2" />, <Trans>Expansion</Trans>)}
        {key(<rect className="c" x=".5" y=".5" width="11" height="11" rx="2" />, <Trans>Contraction</Trans>)}
        {key(<rect className="x" width="12" height="12" rx="2" />, <Trans>Churn</Trans>)}
        {key(<circle className="net" cx="6" cy="6" r="4" />, <Trans context="revenue">Net</Trans>)}
      </ul>
      <div className="barchart" role="slider" tabIndex={0} aria-label={t`Month`} aria-valuemin={1} aria-valuemax={months.length} aria-valuenow={at + 1} aria-valuetext={months[at] && told(months[at])} onKeyDown={go}>
        <Bars {...props} width={640} className="wide-chart" />
        <Bars {...props} months={months.slice(-6)} width={358} className="phone-chart" />
      </div>
    </>
  )
}

/** The same as a table. */
export function MonthTable({ months, currency }: { months: Month[]; currency: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const money = (amount: number) => format.money(amount, currency, { whole: true, sign: true })
  const columns: [string, (one: Month) => string][] = [
    [t`New and returned`, (one) => money(one.new + one.reactivation)], [t`Expansion`, (one) => money(one.expansion)], [t`Contraction`, (one) => money(one.contraction)],
    [t`Churn`, (one) => money(one.churn)], [t`MRR at the end`, (one) => format.money(one.closing, currency, { whole: true })],
  ]
  return (
    <table className="table cards rows mv-table">
      <thead><tr><th scope="col"><Trans>Month</Trans></th>{columns.map(([name]) => <th key={name} scope="col" className="num">{name}</th>)}</tr></thead>
      <tbody>
        {months.toReversed().map((one) => (
          <tr key={one.month}>
            <td className="k1 nowrap">{format.first(format.utc.shortMonthWithYear(`${one.month}-01`))}</td>
            {columns.map(([name, value]) => <td key={name} className="num" data-l={name}>{value(one)}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
