import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem, Skeleton } from './Messages'

/**
 * What was read, or where it will appear, or why it could not be read. Data of before stays in
 * sight while newer is read, and when reading it again fails.
 */
export function Read<T>({ query, lines, children }: { query: UseQueryResult<T, unknown>; lines?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
  return <Skeleton lines={lines} />
}
