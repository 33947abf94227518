import { Trans, useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { address } from '../../../api/client'
import { useFilters } from '../../../app/filters'
import { momentOf } from '../../../parts/timeline/days'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { SearchField } from '../../../ui/SearchField'

/** The filters of a log in the URL, as parameters of its request. */
export function useLogFilters() {
  const [search] = useFilters()
  const text = search.search?.trim() ?? ''
  const actor = /^\d+$/.test(search.actor ?? '') ? Number(search.actor) : undefined
  return { search: text.length > 1 ? text : undefined, from: momentOf(search.from), to: momentOf(search.to, 1), actor }
}

/** Searches a log by person and days, with an export of the result. children are further filters. */
export function LogFilters({ path, params, names = [], children }: {
  /** The path of the log in the API. */
  path: string
  /** The parameters of its request. */
  params: Record<string, string | number | undefined>
  /** The parameters of further filters in the URL. */
  names?: string[]
  children?: ReactNode
}) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const own = ['search', 'from', 'to', 'actor', ...names]
  const query = new URLSearchParams({ format: 'csv', bom: '1' })
  for (const [name, value] of Object.entries(params)) if (value !== undefined && name !== 'page') query.set(name, String(value))
  const day = (name: 'from' | 'to', label: string) => (
    <label className="filter">
      <span>{label}</span>
      <input className="input dense" type="date" value={search[name] ?? ''} onChange={(event) => change({ [name]: event.target.value || undefined }, { replace: true })} />
    </label>
  )
  return (
    <div className="toolbar filters">
      <SearchField label={t`Search by name or email`} />
      {day('from', t`From`)}
      {day('to', t`Until`)}
      {children}
      {own.some((name) => search[name]) && <Button size="s" look="quiet" icon="x" onClick={() => change(Object.fromEntries(own.map((name) => [name, undefined])))}><Trans>Clear filters</Trans></Button>}
      <span className="end"><ButtonAnchor size="s" icon="download" href={address(`${path}?${query}`)} download><Trans>Export CSV</Trans></ButtonAnchor></span>
    </div>
  )
}
