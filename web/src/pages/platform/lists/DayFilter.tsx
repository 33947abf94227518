import { useLingui } from '@lingui/react/macro'
import { useFilters } from '../../../app/filters'
import { useFormat } from '../../../app/format'
import { FilterChip } from './Filters'

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
  return (
    <FilterChip label={label} names={[from, to]} value={value}>
      <div className="days">
        {field(from, t`First day`, { max: last })}
        {field(to, t`Last day`, { min: first })}
      </div>
    </FilterChip>
  )
}
