import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useFilters } from '../../app/filters'
import { Button } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Empty } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { Events } from './Events'
import { timelineQuery, type Whose } from './reads'
import { kinds, type Kind, type NameOf } from './types'

/** The kind of entries that the address names; undefined for all. */
export function kindOf(search: Record<string, string | undefined>): Kind | undefined {
  return kinds.find((one) => one === search.kind)
}

/** The choice of a kind, kept in the address. */
export function KindChips() {
  const { t } = useLingui()
  const [search] = useFilters()
  const words: Record<Kind, string> = { payments: t`Payments`, changes: t`Changes`, usage: t`Usage`, webhooks: t`Webhooks` }
  return <Chips name="kind" value={kindOf(search) ?? 'all'} label={t`What is shown`} options={[{ value: 'all', label: t`Everything` }, ...kinds.map((value) => ({ value, label: words[value] }))]} />
}

/** What happened, of the kind that the address names. Earlier entries follow where one asks for them. */
export function Timeline({ whose, name, withTenant, withInvoices, empty }: {
  whose: Whose; name?: NameOf; withTenant?: boolean; withInvoices?: boolean
  /** What stands where nothing has happened at all. */
  empty: ReactNode
}) {
  const [search] = useFilters()
  const kind = kindOf(search)
  const entries = useInfiniteQuery(timelineQuery(whose, kind))
  return (
    <Read query={entries} lines={8}>
      {(found) => found.length === 0
        ? kind ? <Empty slim icon="activity" title={<Trans>Nothing of this kind has happened</Trans>} /> : empty
        : (
          <>
            <Events entries={found} name={name} withTenant={withTenant} withInvoices={withInvoices} byDay />
            {entries.hasNextPage && (
              <Button className="earlier" busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}><Trans>Show earlier entries</Trans></Button>
            )}
          </>
        )}
    </Read>
  )
}
