import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useFilters } from '../../app/filters'
import { Button } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { ClearFilters } from '../../ui/ClearFilters'
import { Empty } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { DayFields } from './DayFields'
import { momentOf } from './days'
import { Events } from './Events'
import { timelineQuery, type Whose } from './reads'
import { kinds, type Kind, type NameOf } from './types'

/** Returns the kind of entries in the URL; undefined for all. */
export function kindOf(search: Record<string, string | undefined>): Kind | undefined {
  return kinds.find((one) => one === search.kind)
}

/** The selection of a kind, stored in the URL. */
export function KindChips() {
  const { t } = useLingui()
  const [search] = useFilters()
  const words: Record<Kind, string> = { payments: t`Payments`, changes: t`Changes`, usage: t`Usage`, webhooks: t`Webhooks` }
  return <Chips name="kind" value={kindOf(search) ?? 'all'} label={t`Filter activity`} options={[{ value: 'all', label: t`Everything` }, ...kinds.map((value) => ({ value, label: words[value] }))]} />
}

/** The time line, filtered by the kind and the days in the URL. A button loads earlier entries. */
export function Timeline({ whose, name, withTenant, withInvoices, empty }: {
  whose: Whose; name?: NameOf; withTenant?: boolean; withInvoices?: boolean
  /** Shown if the time line is empty. */
  empty: ReactNode
}) {
  const [search] = useFilters()
  const kind = kindOf(search)
  const entries = useInfiniteQuery(timelineQuery(whose, kind, undefined, { from: momentOf(search.from), to: momentOf(search.to, 1) }))
  const filtered = kind || search.from || search.to
  return (
    <>
      <div className="toolbar"><DayFields /></div>
      <Read query={entries} lines={8}>
        {(found) => found.length === 0
          ? filtered ? <Empty slim icon="activity" title={<Trans>No matching activity</Trans>} actions={<ClearFilters />} /> : empty
          : (
            <>
              <Events entries={found} name={name} withTenant={withTenant} withInvoices={withInvoices} byDay />
              {entries.hasNextPage && (
                <Button className="earlier" busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}><Trans>Show earlier entries</Trans></Button>
              )}
            </>
          )}
      </Read>
    </>
  )
}
