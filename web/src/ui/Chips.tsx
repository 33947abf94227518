import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/**
 * A filter of a list, stored in the URL under a name. The first option is the default, which the URL
 * leaves out, except with always.
 */
export function Chips({ name, value, options, label, always }: {
  name: string; value: string | undefined; label: string; always?: boolean; options: { value: string; label: ReactNode; count?: ReactNode }[]
}) {
  const chosen = options.some((one) => one.value === value) ? value : options[0]?.value
  return (
    <div className="chips" role="group" aria-label={label}>
      {options.map((one, i) => (
        <Link
          key={one.value} className="chip" to="." replace resetScroll={false} activeProps={{}} activeOptions={{ exact: true, includeSearch: true }}
          aria-current={one.value === chosen ? 'true' : undefined}
          search={(search: Record<string, string | undefined>) => ({ ...search, page: undefined, [name]: i === 0 && !always ? undefined : one.value })}
        >
          {one.label} {one.count !== undefined && <span>{one.count}</span>}
        </Link>
      ))}
    </div>
  )
}
