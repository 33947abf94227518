import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormat } from '../app/format'

interface Meta {
  current_page: number
  last_page: number
  per_page: number
  total: number
}

/** The position in a long list, with links to other pages. The page is stored in the URL. */
export function Pager({ meta, always, children }: {
  meta: Meta
  /** Shown for a single page, too. */
  always?: boolean
  /** After the position. */
  children?: ReactNode
}) {
  const { t } = useLingui()
  const { number } = useFormat()
  if (meta.last_page <= 1 && !always) return null
  const first = number((meta.current_page - 1) * meta.per_page + 1)
  const last = number(Math.min(meta.total, meta.current_page * meta.per_page))
  const total = number(meta.total)
  const to = (page: number, words: string) => page < 1 || page > meta.last_page
    ? <span className="btn s is-off" aria-disabled="true">{words}</span>
    : (
        <Link
          className="btn s" to="." activeProps={{}}
          search={(search: Record<string, string | undefined>) => ({ ...search, page: page === 1 ? undefined : String(page) })}
        >
          {words}
        </Link>
      )
  return (
    <nav className="pager" aria-label={t`Pages`}>
      <span><Trans>{first} – {last} of {total}</Trans></span>
      {children}
      <span className="acts">{to(meta.current_page - 1, t`Previous`)}{to(meta.current_page + 1, t`Next`)}</span>
    </nav>
  )
}
