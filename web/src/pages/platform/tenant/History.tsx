import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { KindChips, Timeline } from '../../../parts/timeline/Timeline'
import { Empty } from '../../../ui/Messages'
import { useNameOf } from '../activity/entries'

/** The time line of a tenant: payments, changes, usage and webhooks. */
export function History({ tenant }: { tenant: Schema<'AdminTenant'> }) {
  const name = useNameOf(tenant.deleted_at ? undefined : tenant.id)
  return (
    <section>
      <h2 className="sr"><Trans>Recent activity</Trans></h2>
      <div className="toolbar"><KindChips /></div>
      <Timeline
        whose={{ tenant: tenant.id }} name={name}
        empty={<Empty slim icon="activity" title={<Trans>No activity yet</Trans>}><Trans>Payments, changes, usage and webhooks of this tenant appear here.</Trans></Empty>}
      />
    </section>
  )
}
