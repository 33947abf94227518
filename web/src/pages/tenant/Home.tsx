import { Trans, useLingui } from '@lingui/react/macro'
import { useMay } from '../../app/session'
import { Empty, Skeleton } from '../../ui/Messages'
import { Page, Section } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { useNameOf } from './activity/names'
import { Attention } from './home/Attention'
import { Bars } from './home/Bars'
import { Chart } from './home/Chart'
import { LastEvents, useLastEvents } from './home/LastEvents'
import { LastInvoices } from './home/LastInvoices'
import { Lead } from './home/Lead'
import { useGauges, type Gauge } from './home/meters'
import { Next } from './home/Next'
import { Todo } from './home/Todo'
import { useCredit, useDefaultPlan, useFailedPayment, useLastInvoices, useOpenInvoices, usePaymentMethod, useSubscription, useTeamStats } from './shared/reads'

/** The statuses in which nothing more can be used. */
const stopped = new Set(['past_due', 'unpaid', 'paused', 'incomplete'])

/** Begins the reads of parts that are shown later, so that they are in one request with the others. */
function ReadAhead() {
  useLastEvents()
  useNameOf()
  return null
}

/** The plan, upcoming events and problems. */
export default function Home() {
  const { t } = useLingui()
  const may = useMay()
  const subscription = useSubscription()
  const open = useOpenInvoices()
  const billing = [useDefaultPlan(), usePaymentMethod(), useFailedPayment(), useCredit(), useLastInvoices()]
  const former = (useLastInvoices().data?.meta.total ?? 0) > 0
  const { usage, gauges, period, settled, charted: isCharted } = useGauges()
  const team = useTeamStats()
  // Show everything at the same time, so that the content does not move while it loads.
  const pending = [subscription, open, team, usage, ...billing].some((one) => one.isLoading) || !settled
  const paused = stopped.has(subscription.data?.data?.status ?? '')
  // While its days are read, a chart has its place already.
  const days = (one: Gauge) => (isCharted || !period ? one.days.length : (period.now.getTime() - period.start.getTime()) / 86_400_000)
  const charted = gauges?.find((one) => one.used > 0 && days(one) > 2 && (one.resets === 'monthly' || one.limit !== null))
  const parts = [
    charted && period && <Section key="chart" className="" title={<Trans>{charted.name} per day</Trans>}><Chart gauge={charted} period={period} /></Section>,
    <LastInvoices key="invoices" />,
    may('audit.view') && <LastEvents key="events" />,
    <Next key="next" subscription={subscription.data?.data ?? null} open={open.data?.data ?? []} gauges={gauges ?? []} />,
  ].filter(Boolean)
  // Without a chart or events the other parts move up, so that no half of the page is empty.
  const pairs = [parts.slice(0, 2), parts.slice(2)].filter((pair) => pair.length > 0)
  if (pending) return <Page title={t`Home`} heading={null}><Skeleton lines={8} />{may('audit.view') && <ReadAhead />}</Page>
  return (
    <Page title={t`Home`} heading={null}>
      <Read query={subscription} lines={3}>
        {({ data }) => (
          <>
            <Attention subscription={data} invoices={open.data?.data ?? []} gauges={paused ? [] : gauges ?? []} />
            <Lead subscription={data} open={open.data?.data ?? []} />
            {(data !== null || !former) && <Todo subscribed={data !== null} />}
          </>
        )}
      </Read>
      <Read query={usage} lines={5}>
        {() => (!gauges || !period ? null : gauges.some((one) => one.used > 0 || one.limit !== null) || !gauges.length
          ? <Bars gauges={gauges} period={period} paused={paused} />
          : (
              <Section title={<Trans>Usage</Trans>}>
                <Empty slim icon="gauge" title={<Trans>No usage yet</Trans>}>
                  <Trans>Your usage and limits will appear here.</Trans>
                </Empty>
              </Section>
            ))}
      </Read>
      {pairs.map((pair, i) => <div key={i} className="cols sec">{pair}</div>)}
    </Page>
  )
}
