import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { now } from '../../app/clock'
import { useFormat, type Formats } from '../../app/format'
import { useMe } from '../../app/session'
import { Events } from '../../parts/timeline/Events'
import { timelineQuery } from '../../parts/timeline/reads'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { useNameOf } from './activity/entries'
import { BySubscription, HealthList } from './home/Asides'
import { Figures } from './home/Figures'
import { GetStarted, useIsStarted } from './home/GetStarted'
import { checksOf } from './home/health'
import { Revenue } from './home/Revenue'
import { statsQuery, type Stats } from './home/stats'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

function useGreeting(): string {
  const { t } = useLingui()
  const name = useMe().user.name.split(' ')[0]
  const hour = new Date(now()).getHours()
  if (hour < 5 || hour >= 18) return t`Good evening, ${name}`
  return hour < 12 ? t`Good morning, ${name}` : t`Good afternoon, ${name}`
}

/** The date, and current problems. */
function Lead({ of, format }: { of: Stats | undefined; format: Formats }) {
  const day = format.weekday(new Date(now()))
  const troubles = of ? checksOf(of.health, format).flatMap((one) => one.trouble ?? []) : []
  return <>{day}{troubles.length > 0 && <>. {troubles.join('. ')}.</>}</>
}

const useLast = () => useInfiniteQuery(timelineQuery('all', undefined, 10))

/** Begins the reads of parts that are shown later, so that they are in one request with the others. */
function ReadAhead() {
  useLast()
  useIsStarted()
  return null
}

function Last() {
  const name = useNameOf()
  const entries = useLast()
  return (
    <section>
      <div className="sec-head"><h2><Trans>Recent activity</Trans></h2><span className="end"><Link to="/platform/activity"><Trans>All activity</Trans></Link></span></div>
      <Read query={entries} lines={8}>
        {(found) => found.length === 0
          ? <Empty slim icon="activity" title={<Trans>No activity yet</Trans>}><Trans>Payments, changes, usage and webhooks of all tenants appear here.</Trans></Empty>
          : <Events entries={found} name={name} withTenant />}
      </Read>
    </section>
  )
}

/** The state of the platform: figures, revenue, health and latest activity. */
export default function Home() {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const greeting = useGreeting()
  const stats = useQuery({ ...statsQuery, enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Home`} />
  return (
    <Page title={t`Home`} heading={greeting} lead={<Lead of={stats.data} format={format} />}>
      {may('logs.view') && <ReadAhead />}
      <Read query={stats} lines={9}>
        {(found) => (
          <>
            <Figures of={found} />
            <GetStarted of={found} />
            <Revenue of={found} />
            <div className="split sec">
              {may('logs.view') ? <Last /> : <div />}
              <section className="stack wide-gap">
                <BySubscription of={found} />
                <HealthList of={found} />
              </section>
            </div>
          </>
        )}
      </Read>
    </Page>
  )
}
