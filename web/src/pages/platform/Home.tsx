import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { useMe } from '../../app/session'
import { Events } from '../../parts/timeline/Events'
import { timelineQuery } from '../../parts/timeline/reads'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { useNameOf } from './activity/entries'
import { BySubscription, TenantList } from './home/Asides'
import { Figures } from './home/Figures'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { newestQuery } from './tenants/reads'

function useGreeting(): string {
  const { t } = useLingui()
  const name = useMe().user.name.split(' ')[0]
  const hour = new Date().getHours()
  if (hour < 5 || hour >= 18) return t`Good evening, ${name}`
  return hour < 12 ? t`Good morning, ${name}` : t`Good afternoon, ${name}`
}

function Last() {
  const name = useNameOf()
  const entries = useInfiniteQuery(timelineQuery('all', undefined, 10))
  return (
    <section>
      <div className="sec-head"><h2><Trans>What happened last</Trans></h2><span className="end"><Link to="/platform/activity"><Trans>All activity</Trans></Link></span></div>
      <Read query={entries} lines={8}>
        {(found) => found.length === 0
          ? <Empty slim icon="activity" title={<Trans>Nothing has happened yet</Trans>}><Trans>Payments, changes, usage and webhooks of all tenants appear here.</Trans></Empty>
          : <Events entries={found} name={name} withTenant />}
      </Read>
    </section>
  )
}

function Right({ tenants }: { tenants: Schema<'AdminTenant'>[] }) {
  const owing = tenants.filter((one) => one.subscription_status === 'past_due' || one.subscription_status === 'unpaid').slice(0, 5)
  return (
    <section className="stack wide-gap">
      {owing.length > 0 && <TenantList title={<Trans>Past due</Trans>} tenants={owing} />}
      <BySubscription tenants={tenants} />
      <TenantList title={<Trans>The newest</Trans>} tenants={tenants.slice(0, 5)} />
    </section>
  )
}

/** How the platform is doing: its tenants, and what happened last. */
export default function Home() {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const greeting = useGreeting()
  const tenants = useQuery({ ...newestQuery, enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed title={t`Home`} />
  return (
    <Page title={t`Home`} heading={greeting} lead={format.weekday(new Date())}>
      <Read query={tenants} lines={9}>
        {(found) => (
          <>
            <Figures tenants={found.data} total={found.meta.total} />
            <div className="split sec plain">
              {may('logs.view') ? <Last /> : <div />}
              <Right tenants={found.data} />
            </div>
          </>
        )}
      </Read>
    </Page>
  )
}
