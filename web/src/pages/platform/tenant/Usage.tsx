import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { History } from '../../../parts/usage/History'
import { Empty } from '../../../ui/Messages'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { usePlatformMay } from '../may'
import { FeatureTable } from './FeatureTable'
import { Grants } from './Grants'
import { LimitList } from './LimitList'
import { seatsFeature, useLimited, type Limited } from './limits'
import { currentOf } from './MoneyFacts'
import { subscriptionsQuery } from './reads'
import { useCustomer } from './useCustomer'

/** The limits of a tenant, granted units, features, and the usage over time. */
export default function Usage() {
  const of = useCustomer()
  const may = usePlatformMay()
  const { quotas, limits, counted, others } = useLimited(of.id, !of.deleted_at)
  if (of.deleted_at) return null
  const seats = others.find((one) => one.code === seatsFeature)
  const features = others.filter((one) => one !== seats)
  return (
    <>
      <Section className="" title={<Trans>Limits in this period</Trans>} end={<PeriodWords id={of.id} />}>
        <Read query={quotas} lines={8}>
          {() => (may('limits.manage') && limits.data === undefined ? <Read query={limits} lines={8}>{() => null}</Read> : counted.length > 0 || seats
            ? <LimitList counted={counted} seats={seats} tenant={of} />
            : <Empty slim level="h3" icon="gauge" title={<Trans>No limits</Trans>}><Trans>Neither the plan nor an override sets a limit.</Trans></Empty>)}
        </Read>
      </Section>
      {may('limits.manage') && <Grants tenant={of} counted={counted} />}
      {may('limits.manage') && features.length > 0 && <FeatureTable features={features} />}
      {counted.length > 0 && <TenantHistory id={of.id} counted={counted} />}
    </>
  )
}

/** The billing period, or the calendar month without a subscription. */
function PeriodWords({ id }: { id: string }) {
  const format = useFormat()
  const current = currentOf(useQuery(subscriptionsQuery(id)).data ?? [])
  if (!current || current.status === 'canceled' || current.status === 'incomplete_expired') return null
  const period = format.period(current.current_period_start, current.current_period_end)
  return current.status === 'trialing' ? <Trans>Trial, {period}</Trans> : period
}

function TenantHistory({ id, counted }: { id: string; counted: Limited[] }) {
  const current = currentOf(useQuery(subscriptionsQuery(id)).data ?? [])
  const read = async (query: { meter_code: string; interval: Schema<'SeriesInterval'>; from: string }) =>
    (await api.GET('/api/v1/admin/tenants/{tenant}/usage/series', { params: { path: { tenant: id }, query } })).data!.data
  return (
    <History
      whose={id} read={read}
      meters={counted.map(({ code, name, unit, quota }) => ({ code, name, unit, used: quota!.current_usage, limit: quota!.quota_limit, start: quota!.resets_at ? current?.current_period_start : undefined }))}
    />
  )
}
