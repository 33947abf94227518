import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { now } from '../../app/clock'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { ButtonLink } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { SortHead } from '../../ui/SortHead'
import { SubscriptionState } from '../../ui/Status'
import { listQuery, type Params, type SubscriptionRow } from './lists/reads'
import { ExportCsv } from './lists/ExportCsv'
import { ChoiceFilter, Filters } from './lists/Filters'
import { filterParams, filtersIn, placeOf, type Search } from './lists/place'
import { RowsPager } from './lists/RowsPager'
import { PhoneSort } from './lists/Sorts'
import { TenantFilter } from './lists/TenantFilter'
import { useListKeys } from './lists/useListKeys'
import { Views } from './lists/Views'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { usePlanOptions } from './Tenants'
import { useStatusOptions } from './tenants/words'

const orders = ['-created_at', 'created_at', 'current_period_end']

const hour = 3_600_000

/** Returns the time after a number of days, rounded to the hour so that the same view is the same request for a while. */
function inDays(days: string | undefined): string | undefined {
  return Number(days) > 0 ? new Date(Math.ceil(now() / hour) * hour + Number(days) * 24 * hour).toISOString() : undefined
}

const paramsOf = ({ status, tenant, plan, collection, trial, renews }: Search): Params =>
  filterParams({ status, tenant, plan, collection, trial_ends_before: inDays(trial), renews_before: inDays(renews) })

/** What happens next with a subscription: its end, the end of its trial, a scheduled change or its renewal. */
function Next({ of }: { of: SubscriptionRow }) {
  const format = useFormat()
  const ends = of.cancel_at ?? (of.cancel_at_period_end ? of.current_period_end : null)
  const day = format.day(ends ?? (of.status === 'trialing' ? of.trial_ends_at : null) ?? of.current_period_end)
  if (of.status === 'canceled' || of.status === 'incomplete_expired') return <span className="faint">–</span>
  if (ends) return <Trans>Ends on {day}</Trans>
  if (of.status === 'trialing') return <Trans>Trial until {day}</Trans>
  const change = of.pending_change?.kind === 'scheduled' ? of.pending_change.plan.name : ''
  return change ? <Trans>{change} from {day}</Trans> : <Trans>Renews on {day}</Trans>
}

function Table({ subscriptions }: { subscriptions: SubscriptionRow[] }) {
  const format = useFormat()
  return (
    <table className="table mid cards rows tenants2 subs">
      <thead>
        <tr>
          <th scope="col"><Trans>Tenant</Trans></th><th scope="col"><Trans>Plan</Trans></th><th scope="col"><Trans>Status</Trans></th><th scope="col" className="num"><Trans>MRR</Trans></th>
          <th scope="col"><Trans>Payment</Trans></th><SortHead by="current_period_end" normal="-created_at" orders={['current_period_end', '-created_at']}><Trans context="a date">Next</Trans></SortHead><SortHead by="created_at" normal="-created_at"><Trans>Started</Trans></SortHead>
        </tr>
      </thead>
      <tbody>
        {subscriptions.map((one) => (
          <tr key={one.id}>
            <td className="k1"><b><Link className="rowlink" to="/platform/tenants/$tenantId/subscription" params={{ tenantId: one.tenant.id }}>{one.tenant.name}</Link></b></td>
            <td className="k2">{one.quantity > 1 ? <>{one.plan.name}, <span className="nowrap"><Plural value={one.quantity} one="# seat" other="# seats" /></span></> : one.plan.name}</td>
            <td className="k3"><SubscriptionState status={one.status} /></td>
            <td className="num k4"><b>{format.sum(one.mrr)}</b></td>
            <td className="k5 nowrap">{one.collection === 'invoice' ? <Trans>By invoice</Trans> : <Trans>By card</Trans>}</td>
            <td className="k6 muted"><Next of={one} /></td>
            <td className="k7 muted">{format.day(one.created_at)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The subscriptions of all tenants. */
export default function Subscriptions() {
  const { t } = useLingui()
  const may = usePlatformMay()
  const [search] = useFilters()
  const statuses = useStatusOptions()
  const plans = usePlanOptions()
  useListKeys()
  const allowed = may('tenants.view')
  const params = { ...paramsOf(search), ...placeOf(search, orders) }
  const subscriptions = useQuery({ ...listQuery('subscriptions', params), enabled: allowed })
  if (!allowed) return <NotAllowed needs={['tenants.view']} title={t`Subscriptions`} />
  const total = subscriptions.data?.meta.total
  const views = [
    { name: t`All subscriptions`, search: {} }, { name: t`Past due`, search: { status: 'past_due,unpaid' } },
    { name: t`Trials ending this week`, search: { trial: '7' } }, { name: t`Renewing this week`, search: { renews: '7' } },
  ]
  const days = [7, 14, 30].map((count) => ({ value: String(count), label: t`within ${count} days` }))
  const sorts = [{ value: '-created_at', label: t`Newest first` }, { value: 'created_at', label: t`Oldest first` }, { value: 'current_period_end', label: t`By renewal` }]
  const filtered = Object.keys(filtersIn(search)).length > 0
  return (
    <Page title={t`Subscriptions`} wide lead={total === undefined ? <>&nbsp;</> : <Plural value={total} one="# subscription" other="# subscriptions" />} actions={total !== 0 && <ExportCsv list="subscriptions" params={params} />}>
      <Views list="subscriptions" views={views} paramsOf={paramsOf} />
      <Filters search={null} done={<Plural value={total ?? 0} one="Show # subscription" other="Show # subscriptions" />}>
        <ChoiceFilter name="status" label={t`Status`} several options={[...statuses, { value: 'incomplete_expired', label: t`Never activated` }]} />
        {plans.length > 0 && <ChoiceFilter name="plan" label={t`Plan`} several options={plans} />}
        <ChoiceFilter name="collection" label={t`Payment`} options={[{ value: 'card', label: t`By card` }, { value: 'invoice', label: t`By invoice` }]} />
        <ChoiceFilter name="trial" label={t`Trial ends`} options={days} />
        <ChoiceFilter name="renews" label={t`Renews`} options={days} />
        <TenantFilter />
      </Filters>
      <PhoneSort orders={sorts} />
      <Read query={subscriptions} lines={9}>
        {(found) => found.data.length > 0
          ? <div className={subscriptions.isPlaceholderData ? 'is-old' : undefined}><Table subscriptions={found.data} /><RowsPager meta={found.meta} /></div>
          : filtered
            ? <Empty icon="search" title={<Trans>No subscriptions match these filters</Trans>} actions={<ButtonLink to="/platform/subscriptions"><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty icon="swap" title={<Trans>No subscriptions yet</Trans>} actions={<ButtonLink to="/platform/tenants"><Trans>Open tenants</Trans></ButtonLink>}><Trans>Subscriptions appear here when customers buy a plan. You can also create one on a tenant’s page.</Trans></Empty>}
      </Read>
    </Page>
  )
}
