import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useFormat } from '../../app/format'
import { useMe } from '../../app/session'
import { Events } from '../../parts/timeline/Events'
import { activityPages } from '../../parts/timeline/reads'
import { Empty, Problem, Skeleton } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { BySubscription, HealthList } from './home/Asides'
import { checks } from './home/checks'
import { Money } from './home/Money'
import { Six } from './home/Six'
import { statsQuery, type Stats } from './home/stats'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

function useGreeting(): string {
  const { t } = useLingui()
  const name = useMe().user.name.split(' ')[0]
  const hour = new Date().getHours()
  if (hour < 5 || hour >= 18) return t`Good evening, ${name}`
  return hour < 12 ? t`Good morning, ${name}` : t`Good afternoon, ${name}`
}

/** Today, and what is not as usual. */
function Lead({ stats }: { stats: Stats | undefined }) {
  const { t } = useLingui()
  const format = useFormat()
  const today = format.weekday(stats?.at ?? new Date())
  if (!stats) return <>{today}.</>
  const unusual = [
    ...(stats.failed_payments.new > 0 ? [t`failed payments`] : []),
    ...checks(stats, format).filter((one) => one.status !== 'ok').map((one) => one.label.charAt(0).toLocaleLowerCase() + one.label.slice(1)),
  ]
  return unusual.length === 0 ? <Trans>{today}. All is as usual.</Trans> : <Trans>{today}. Not as usual: {format.list(unusual)}.</Trans>
}

function Last() {
  const activity = useInfiniteQuery(activityPages(undefined, 10))
  const entries = activity.data?.pages[0]?.data
  return (
    <section>
      <div className="sec-head"><h2><Trans>What happened last</Trans></h2><span className="end"><Link to="/platform/activity"><Trans>All activity</Trans></Link></span></div>
      {entries === undefined && (activity.isError ? <Problem error={activity.error} onRetry={() => void activity.refetch()} /> : <Skeleton lines={6} />)}
      {entries?.length === 0 && <Empty slim icon="activity" title={<Trans>Nothing has happened yet</Trans>}><Trans>New tenants, payments and changes show here.</Trans></Empty>}
      {entries && entries.length > 0 && <Events entries={entries} withTenant />}
    </section>
  )
}

/** How the platform is doing: six numbers, the money, what happened last. */
export default function Home() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const greeting = useGreeting()
  const stats = useQuery({ ...statsQuery, enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed title={t`Home`} />
  return (
    <Page title={t`Home`} heading={greeting} lead={<Lead stats={stats.data} />}>
      <Read query={stats} lines={9}>
        {(found) => (
          <>
            <Six stats={found} />
            <Money stats={found} />
            <div className="split sec">
              {may('logs.view') ? <Last /> : <div />}
              <section className="stack wide-gap">
                <BySubscription stats={found} />
                <HealthList stats={found} />
              </section>
            </div>
          </>
        )}
      </Read>
    </Page>
  )
}
