import { Trans } from '@lingui/react/macro'
import { useFilters } from '../../../app/filters'
import { KindChips, kindOf, Timeline } from '../../../parts/timeline/Timeline'
import { Empty } from '../../../ui/Messages'
import { AuditList } from './AuditList'
import { useNameOf } from './entries'

/** All activity, of all kinds or of one. Changes can also be filtered by action, user and day. */
export function Everything() {
  const [search] = useFilters()
  const name = useNameOf()
  return (
    <>
      <div className="toolbar"><KindChips /></div>
      {kindOf(search) === 'changes'
        ? <AuditList />
        : (
          <Timeline
            whose="all" name={name} withTenant
            empty={<Empty slim icon="activity" title={<Trans>No activity yet</Trans>}><Trans>Payments, changes, usage and webhooks of all tenants appear here.</Trans></Empty>}
          />
        )}
    </>
  )
}
