import { useNavigate, useSearch } from '@tanstack/react-router'

type Filters = Record<string, string | undefined>

/** The filters in the address, and a way to change them: undefined removes one, and any change leads to the first page. */
export function useFilters(): [Filters, (change: Filters, options?: { replace?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Filters
  const navigate = useNavigate()
  return [search, (change, { replace = false } = {}) => {
    void navigate({ to: '.', search: (before: Filters) => ({ ...before, page: undefined, ...change }), replace, resetScroll: false })
  }]
}

/** The page that the address names. */
export function pageOf(search: Filters): number {
  const page = Number(search.page)
  return Number.isInteger(page) && page > 0 ? page : 1
}
