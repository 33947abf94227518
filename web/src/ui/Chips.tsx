import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

/** Filters of which one holds. Each is a link, so that it can be opened beside and stays in the history. */
export function Chips({ label, name, value, options }: {
  label: string
  /** The filter's name in the address. */
  name: string
  value: string | undefined
  options: { value: string | undefined; label: ReactNode; count?: ReactNode }[]
}) {
  return (
    <div className="chips" role="group" aria-label={label}>
      {options.map((one) => (
        <Link
          key={one.value ?? ''} className="chip" to="." aria-current={one.value === value ? 'true' : undefined} activeProps={{}}
          search={((before: Record<string, string | undefined>) => ({ ...before, page: undefined, [name]: one.value })) as never}
        >
          {one.label} {one.count !== undefined && <span>{one.count}</span>}
        </Link>
      ))}
    </div>
  )
}
