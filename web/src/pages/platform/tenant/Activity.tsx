import { Trans } from '@lingui/react/macro'
import { useFilters } from '../../../app/filters'
import { KindChips, kindOf, Timeline } from '../../../parts/timeline/Timeline'
import { Empty } from '../../../ui/Messages'
import { AuditList } from '../activity/AuditList'
import { useNameOf } from '../activity/entries'
import { usePlatformMay } from '../may'
import { MissingPermission } from '../NotAllowed'
import { useCustomer } from './useCustomer'

/** The time line of a tenant: payments, changes, usage and webhooks. */
export default function Activity() {
  const of = useCustomer()
  const may = usePlatformMay()
  const [search] = useFilters()
  const name = useNameOf(of.deleted_at ? undefined : of.id)
  if (!may('logs.view')) return <MissingPermission slim needs={['logs.view']} />
  return (
    <section>
      <h2 className="sr"><Trans>Activity</Trans></h2>
      <div className="toolbar"><KindChips /></div>
      {kindOf(search) === 'changes' ? <AuditList tenant={of.id} /> : <Timeline
        whose={{ tenant: of.id }} name={name}
        empty={<Empty slim icon="activity" title={<Trans>No activity yet</Trans>}><Trans>Payments, changes, usage and webhooks of this tenant appear here.</Trans></Empty>}
      />}
    </section>
  )
}
