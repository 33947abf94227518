import { Trans, useLingui } from '@lingui/react/macro'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useFormat } from '../app/format'
import { Button } from './Button'

/** The filters in the address, and a way to change them. Undefined removes one; any change but of the page leads to the first page. */
export function useFilters(): [Record<string, string | undefined>, (change: Record<string, string | undefined>, replace?: boolean) => void] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>
  const navigate = useNavigate()
  return [search, (change, replace = false) => {
    const next = { ...search, page: undefined, ...change }
    void navigate({ to: '.', search: next as never, replace, resetScroll: 'page' in change })
  }]
}

/** The page that the address names. */
export function pageOf(search: Record<string, string | undefined>): number {
  const page = Number(search.page)
  return Number.isInteger(page) && page > 0 ? page : 1
}

/** Which part of a list is shown, and the way to the parts beside it. The page is in the address. */
export function Pager({ meta }: { meta: { current_page: number; last_page: number; per_page: number; total: number } }) {
  const { t } = useLingui()
  const format = useFormat()
  const [, change] = useFilters()
  if (meta.total <= meta.per_page && meta.current_page === 1) return null
  const from = format.number(Math.min(meta.total, (meta.current_page - 1) * meta.per_page + 1))
  const to = format.number(Math.min(meta.total, meta.current_page * meta.per_page))
  const total = format.number(meta.total)
  const go = (page: number) => change({ page: page > 1 ? String(page) : undefined })
  return (
    <nav className="pager" aria-label={t`Pages of the list`}>
      <span><Trans>{from} – {to} of {total}</Trans></span>
      <div className="acts">
        <Button size="s" disabled={meta.current_page <= 1} onClick={() => go(Math.min(meta.current_page - 1, meta.last_page))}><Trans>Back</Trans></Button>
        <Button size="s" disabled={meta.current_page >= meta.last_page} onClick={() => go(meta.current_page + 1)}><Trans>Next</Trans></Button>
      </div>
    </nav>
  )
}
