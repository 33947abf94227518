import type { ReactNode } from 'react'
import { useFilters } from '../app/filters'
import { Icon } from './Icon'

/**
 * The header of a sortable column. A second click reverses the order, which is stored in the URL.
 */
export function SortHead({ by, normal, orders, children, className }: {
  by: string
  /** The default order, such as -created_at. */
  normal: string
  /** The possible orders, the first one first. By default the descending and the ascending one. */
  orders?: string[]
  children: ReactNode
  className?: string
}) {
  const [search, change] = useFilters()
  const sort = search.sort ?? normal
  const up = sort === by
  const down = sort === `-${by}`
  const possible = orders ?? [`-${by}`, by]
  const next = possible[(possible.indexOf(sort) + 1) % possible.length]!
  return (
    <th scope="col" className={className} aria-sort={up ? 'ascending' : down ? 'descending' : undefined}>
      <button type="button" onClick={() => change({ sort: next === normal ? undefined : next })}>
        {children} {(up || down) && <Icon name={up ? 'up' : 'down'} />}
      </button>
    </th>
  )
}
