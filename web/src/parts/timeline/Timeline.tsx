import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../../ui/Button'
import { Empty, Problem, Skeleton } from '../../ui/Messages'
import { Events } from './Events'
import type { activityPages } from './reads'
import type { Entry } from './types'

/** A time line that is read further by a button. */
export function Timeline({ pages, withTenant, action, filtered }: {
  pages: ReturnType<typeof activityPages>; withTenant?: boolean; action?: (entry: Entry) => ReactNode
  /** Only some kinds are shown: an empty list says that. */
  filtered?: boolean
}) {
  const query = useInfiniteQuery(pages)
  if (query.data === undefined) {
    return query.isError ? <Problem error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} /> : <Skeleton lines={8} />
  }
  const entries = query.data.pages.flatMap((page) => page.data)
  if (entries.length === 0) {
    return (
      <Empty slim icon="activity" title={filtered ? <Trans>Nothing of this kind</Trans> : <Trans>Nothing has happened yet</Trans>}>
        {!filtered && <Trans>Payments, changes and limits show here as soon as there are some.</Trans>}
      </Empty>
    )
  }
  return (
    <>
      <Events entries={entries} byDay withTenant={withTenant} action={action} />
      {query.isFetchNextPageError && <Problem error={query.error} />}
      {query.hasNextPage && <Button size="s" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}><Trans>Show earlier</Trans></Button>}
    </>
  )
}
