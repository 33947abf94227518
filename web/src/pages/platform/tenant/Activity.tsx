import { Trans } from '@lingui/react/macro'
import { KindChips, Timeline } from '../../../parts/timeline/Timeline'
import { Empty } from '../../../ui/Messages'
import { useNameOf } from '../activity/entries'
import { usePlatformMay } from '../may'
import { useCustomer } from './useCustomer'

/** The time line of a tenant: payments, changes, usage and webhooks. */
export default function Activity() {
  const of = useCustomer()
  const may = usePlatformMay()
  const name = useNameOf(of.deleted_at ? undefined : of.id)
  if (!may('logs.view')) return <Empty slim icon="lock" title={<Trans>You do not have permission to view this</Trans>} />
  return (
    <section>
      <h2 className="sr"><Trans>Activity</Trans></h2>
      <div className="toolbar"><KindChips /></div>
      <Timeline
        whose={{ tenant: of.id }} name={name}
        empty={<Empty slim icon="activity" title={<Trans>No activity yet</Trans>}><Trans>Payments, changes, usage and webhooks of this tenant appear here.</Trans></Empty>}
      />
    </section>
  )
}
