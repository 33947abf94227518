import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../../api/client'
import { pageOf, useFilters } from '../../../app/filters'
import { Events } from '../../../parts/timeline/Events'
import { Empty } from '../../../ui/Messages'
import { Pager } from '../../../ui/Pager'
import { Read } from '../../../ui/Read'
import { trailQuery, useEntries } from '../activity/entries'

/** What was changed at a tenant, in plain words and in order of time. */
export function History({ tenant }: { tenant: Schema<'AdminTenant'> }) {
  const [search] = useFilters()
  const trail = useQuery(trailQuery({ 'filter[tenant]': tenant.id, page: pageOf(search) }))
  const entries = useEntries(tenant.deleted_at ? undefined : tenant.id)
  return (
    <section>
      <h2 className="history-head"><Trans>What happened last</Trans></h2>
      <Read query={trail} lines={8}>
        {(found) => found.data.length === 0
          ? <Empty slim icon="activity" title={<Trans>Nothing was changed yet</Trans>}><Trans>Every change by anybody is recorded here and cannot be altered.</Trans></Empty>
          : <><Events entries={entries(found.data)} byDay /><Pager meta={found.meta} /></>}
      </Read>
    </section>
  )
}
