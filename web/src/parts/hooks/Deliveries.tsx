import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client'
import { pageOf, useFilters } from '../../app/filters'
import { Chips } from '../../ui/Chips'
import { ClearFilters } from '../../ui/ClearFilters'
import { Empty } from '../../ui/Messages'
import { Section } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import type { Scope } from '../scope'
import { deliveriesQuery } from './api'
import { DeliveryRow } from './DeliveryRow'
import { eventTypes, type EventType } from './types'

const states: Schema<'DeliveryStatus'>[] = ['delivered', 'pending', 'failed']

/** The deliveries to an endpoint with their attempts. Filters and page are in the URL. */
export function Deliveries({ of, scope }: { of: Schema<'WebhookEndpoint'>; scope: Scope }) {
  const { t } = useLingui()
  const [search, change] = useFilters()
  const status = states.find((one) => one === search.status)
  const type = [...eventTypes, 'webhook.test' as const].find((one) => one === search.type) as EventType | undefined
  const deliveries = useQuery(deliveriesQuery(scope, of.id, { page: pageOf(search), status, type }))
  return (
    <Section title={<Trans>Deliveries</Trans>} end={<Trans>from the last 30 days</Trans>}>
      <div className="toolbar">
        <Chips
          label={t`Show`} name="status" value={status}
          options={[
            { value: 'all', label: t({ message: 'All', context: 'deliveries' }) }, { value: 'delivered', label: t`Delivered` },
            { value: 'pending', label: t`Pending` }, { value: 'failed', label: t`Failed` },
          ]}
        />
        <select className="select dense" aria-label={t`Event type`} value={type ?? ''} onChange={(event) => change({ type: event.target.value || undefined })}>
          <option value="">{t`All types`}</option>
          {[...eventTypes, 'webhook.test'].map((one) => <option key={one}>{one}</option>)}
        </select>
      </div>
      <Read query={deliveries}>
        {(page) => page.data.length === 0
          ? (
            <Empty slim icon="hook" title={status || type ? <Trans>No matching deliveries</Trans> : <Trans>No deliveries yet</Trans>} actions={(status || type) && <ClearFilters />}>
              {!status && !type && <Trans>Events appear here with every delivery attempt. Send a test event to try it.</Trans>}
            </Empty>
          )
          : (
            <>
              <table className="table cards rows">
                <thead>
                  <tr>
                    <th scope="col"><Trans>Event</Trans></th>
                    <th scope="col"><Trans>Status</Trans></th>
                    <th scope="col"><Trans>Attempts</Trans></th>
                    <th scope="col"><Trans>When</Trans></th>
                    <th scope="col" className="fit"><span className="sr">{t`Actions`}</span></th>
                  </tr>
                </thead>
                <tbody>{page.data.map((one) => <DeliveryRow key={one.id} of={one} endpoint={of} scope={scope} />)}</tbody>
              </table>
              <Pager meta={page.meta} />
            </>
          )}
      </Read>
    </Section>
  )
}
