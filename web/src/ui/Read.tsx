import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem, Skeleton } from './Messages'

/**
 * The loaded data, a placeholder, or the error. Earlier data remains visible during a reload and
 * after a failed one.
 */
export function Read<T>({ query, lines, children }: { query: UseQueryResult<T, unknown>; lines?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
  return <Skeleton lines={lines} />
}
