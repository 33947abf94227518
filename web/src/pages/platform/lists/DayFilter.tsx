import { useLingui } from '@lingui/react/macro'
import { now } from '../../../app/clock'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { FilterChip } from './Filters'

type Span = [first: string, last: string]

/** Returns the first and the last day of the current month, the month before and the year. */
function spansOf(today: Date): { current: Span; last: Span; year: Span } {
  const [year, month] = [today.getFullYear(), today.getMonth()]
  const day = (month: number, day: number) => new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10)
  return { current: [day(month, 1), day(month + 1, 0)], last: [day(month - 1, 1), day(month, 0)], year: [day(0, 1), day(12, 0)] }
}

/** A filter with a first and a last day. */
export function DayFilter({ from, to, label }: { from: string; to: string; label: string }) {
  const { t } = useLingui()
  const format = useFormat()
  const [search, change] = useFilters()
  const [first, last] = [search[from], search[to]]
  const [since, until] = [first && format.day(first), last && format.day(last)]
  const value = since && until ? `${since} – ${until}` : since ? t`Since ${since}` : until ? t`Until ${until}` : undefined
  const field = (name: string, words: string, bounds: { min?: string; max?: string }) => (
    <label className="field">
      <span className="label">{words}</span>
      <input className="input dense" type="date" value={search[name] ?? ''} {...bounds} onChange={(event) => change({ [name]: event.target.value || undefined }, { replace: true })} />
    </label>
  )
  const spans = spansOf(new Date(now()))
  const chip = ([start, end]: Span, words: string) => (
    <button type="button" className="chip" aria-pressed={first === start && last === end} onClick={() => change({ [from]: start, [to]: end }, { replace: true })}>{words}</button>
  )
  return (
    <FilterChip label={label} names={[from, to]} value={value}>
      <div className="days">
        <div className="quick">{chip(spans.current, t`This month`)}{chip(spans.last, t`Last month`)}{chip(spans.year, t`This year`)}</div>
        {field(from, t`First day`, { max: last })}
        {field(to, t`Last day`, { min: first })}
      </div>
    </FilterChip>
  )
}
