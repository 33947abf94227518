import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useFilters } from '../../../app/filters'
import { oneQuery } from '../tenant/reads'
import { listQuery } from './reads'
import { FilterChip } from './Filters'

/** A filter for one tenant, which is found by name, email or id. */
export function TenantFilter() {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const [text, setText] = useState('')
  const id = search.tenant ?? ''
  const chosen = useQuery({ ...oneQuery(id), enabled: id !== '', retry: false })
  const sought = text.trim()
  const found = useQuery({ ...listQuery('tenants', { 'filter[search]': sought, per_page: 6 }), enabled: sought.length > 1 })
  return (
    <FilterChip label={t`Tenant`} names={['tenant']} value={id ? chosen.data?.name ?? id : undefined}>
      <input className="input dense" type="search" aria-label={t`Search tenants`} placeholder={t`Name, email or ID`} value={text} onChange={(event) => setText(event.target.value)} data-autofocus />
      <div className="options">
        {(sought.length > 1 ? found.data?.data ?? [] : []).map((one) => (
          <label key={one.id} className="check">
            <input type="radio" name="filter-tenant" checked={one.id === id} onChange={() => change({ tenant: one.id }, { replace: true })} />
            <span>{one.name}</span>
          </label>
        ))}
        {sought.length > 1 && found.data?.data.length === 0 && <p className="cap"><Trans>No tenant found</Trans></p>}
      </div>
    </FilterChip>
  )
}
