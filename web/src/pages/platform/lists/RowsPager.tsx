import { useLingui } from '@lingui/react/macro'
import { useId } from 'react'
import { useFilters } from '../../../app/filters'
import { Pager } from '../../../ui/Pager'
import type { Meta } from './reads'
import { rowCounts } from './place'

/** The position in a list and the number of rows per page. */
export function RowsPager({ meta }: { meta: Meta }) {
  const { t } = useLingui()
  const id = useId()
  const [search, change] = useFilters()
  return (
    <Pager meta={meta} always={meta.total > rowCounts[0]!}>
      <span className="rpp">
        <label htmlFor={id}>{t`Rows`}</label>
        <select id={id} className="select dense" value={search.rows ?? rowCounts[0]} onChange={(event) => change({ rows: event.target.value === String(rowCounts[0]) ? undefined : event.target.value })}>
          {rowCounts.map((one) => <option key={one} value={one}>{one}</option>)}
        </select>
      </span>
    </Pager>
  )
}
