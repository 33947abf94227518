import { useNavigate, useSearch } from '@tanstack/react-router'

type Filters = Record<string, string | undefined>

/**
 * Returns the filters in the URL, and a function that changes them: undefined removes a filter, and
 * every change returns to the first page.
 */
export function useFilters(): [Filters, (change: Filters, options?: { replace?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Filters
  const navigate = useNavigate()
  return [search, (change, { replace = false } = {}) => {
    void navigate({ to: '.', search: (before: Filters) => ({ ...before, page: undefined, ...change }), replace, resetScroll: false })
  }]
}

/** Returns the page number in the URL. */
export function pageOf(search: Filters): number {
  const page = Number(search.page)
  return Number.isInteger(page) && page > 0 ? page : 1
}
