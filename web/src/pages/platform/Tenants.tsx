import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { address } from '../../api/client'
import { now } from '../../app/clock'
import { countries } from '../../app/countries'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { useSettings } from '../../app/session'
import { Button, ButtonLink } from '../../ui/Button'
import { CopyButton } from '../../ui/Copy'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { allProductsQuery } from './catalog/reads'
import { nameIn } from './catalog/texts'
import { statsQuery } from './home/stats'
import { countQuery, listQuery, type Params } from './lists/reads'
import { ExportCsv } from './lists/ExportCsv'
import { ChoiceFilter, Filters, FlagFilter } from './lists/Filters'
import { filterParams, filtersIn, isSame, placeOf, soughtIn, type Search } from './lists/place'
import { RowsPager } from './lists/RowsPager'
import { PhoneSort } from './lists/Sorts'
import { useListKeys } from './lists/useListKeys'
import { Views } from './lists/Views'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'
import { NewTenant } from './tenants/NewTenant'
import { TenantTable } from './tenants/TenantTable'
import { useStatusOptions } from './tenants/words'

const orders = ['-created_at', 'created_at', '-mrr', 'mrr', '-last_activity_at', 'last_activity_at']

const hour = 3_600_000

/** Returns the request of a view: its filters, with the days until the end of a trial as a time. */
function paramsOf(search: Search): Params {
  const days = Number(search.trial)
  // Rounded to the hour, so that the same view is the same request for a while.
  const before = days > 0 ? new Date(Math.ceil(now() / hour) * hour + days * 24 * hour).toISOString() : undefined
  return {
    ...filterParams({ search: soughtIn(search), status: search.status, plan: search.plan, country: search.country, trial_ends_before: before, open_amount: search.open ? 'true' : undefined }),
    deleted: search.show === 'deleted' ? 'true' : undefined,
  }
}

/** Returns the plans as options of a filter, by slug. */
export function usePlanOptions() {
  const { i18n } = useLingui()
  const may = usePlatformMay()
  const products = useQuery({ ...allProductsQuery, enabled: may('products.view') }).data ?? []
  return products.flatMap((one) => one.plans ?? []).map((one) => ({ value: one.slug, label: nameIn(one.translations, i18n.locale) || one.slug }))
}

function CopySignUp() {
  const { registration_enabled } = useSettings()
  return registration_enabled ? <CopyButton text={address('/pricing')}><Trans>Copy sign-up link</Trans></CopyButton> : null
}

/** The number of tenants that match, of all, and what they pay a month. */
function Lead({ found, all }: { found: number | undefined; all: number | undefined }) {
  const format = useFormat()
  const [search] = useFilters()
  const stats = useQuery(statsQuery).data
  const mrr = stats && stats.mrr.some((one) => one.amount > 0) && format.list(stats.mrr.filter((one) => one.amount > 0).map((one) => format.about(one.amount, one.currency)))
  if (found === undefined || all === undefined) return <>&nbsp;</>
  const [some, total] = [format.number(found), format.number(all)]
  if (Object.keys(filtersIn(search)).length > 0 && search.show !== 'deleted') return <Trans>{some} of {total} tenants</Trans>
  return <><Plural value={found} one="# tenant" other="# tenants" />{mrr && search.show !== 'deleted' && <>, <Trans>{mrr} MRR</Trans></>}</>
}

/** All tenants, with saved views, filters and an export. Deleted tenants that can be restored are a view. */
export default function Tenants() {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const [{ do: wanted, ...search }, change] = useFilters()
  // A link opens the dialog, for example from the search.
  const creating = wanted === 'new'
  const setCreating = (to: boolean) => change({ do: to ? 'new' : undefined }, { replace: true })
  const statuses = useStatusOptions()
  const plans = usePlanOptions()
  useListKeys()
  const places = useMemo(() => countries.map((value) => ({ value, label: format.country(value) })).sort((a, b) => a.label.localeCompare(b.label)), [format])
  const deleted = search.show === 'deleted'
  const params = { ...paramsOf(search), ...placeOf(search, deleted ? [] : orders) }
  const allowed = may('tenants.view')
  const tenants = useQuery({ ...listQuery('tenants', params), enabled: allowed })
  const views = [
    { name: t`All tenants`, search: {} }, { name: t`Past due`, search: { status: 'past_due,unpaid' } }, { name: t`Trials ending this week`, search: { trial: '7' } }, { name: t({ message: 'Deleted', context: 'tenants' }), search: { show: 'deleted' } },
  ]
  const all = useQuery({ ...countQuery('tenants', paramsOf({})), enabled: allowed }).data?.total
  if (!allowed) return <NotAllowed needs={['tenants.view']} title={t`Tenants`} />
  const total = tenants.data?.meta.total
  const create = may('tenants.manage') && <Button look="primary" icon="plus" onClick={() => setCreating(true)}><Trans>New tenant</Trans></Button>
  const sorts = [
    { value: '-created_at', label: t`Newest first` }, { value: 'created_at', label: t`Oldest first` }, { value: '-last_activity_at', label: t`By last activity` }, { value: '-mrr', label: t`By MRR` },
  ]
  return (
    <Page
      title={t`Tenants`} lead={<Lead found={total} all={all} />} wide
      actions={<>{!deleted && total !== 0 && <ExportCsv list="tenants" params={params} />}{create}</>}
    >
      <Views list="tenants" views={views} paramsOf={paramsOf} />
      <Filters
        search={<SearchField label={t`Search name, email or ID`} />}
        done={<Plural value={total ?? 0} one="Show # tenant" other="Show # tenants" />}
      >
        {!deleted && (
          <>
            <ChoiceFilter name="status" label={t`Status`} several options={[...statuses, { value: 'none', label: t`No subscription` }]} />
            {plans.length > 0 && <ChoiceFilter name="plan" label={t`Plan`} several options={plans} />}
            <ChoiceFilter name="country" label={t`Country`} options={places} />
            <ChoiceFilter name="trial" label={t`Trial ends`} options={[7, 14, 30].map((days) => ({ value: String(days), label: t`within ${days} days` }))} />
            <FlagFilter name="open" label={t`Open amount`} />
          </>
        )}
      </Filters>
      {!deleted && <PhoneSort orders={sorts} />}
      <Read query={tenants} lines={9}>
        {(found) => found.data.length === 0
          ? <Nothing search={search} create={create} views={views} />
          : (
              <div className={tenants.isPlaceholderData ? 'is-old' : undefined}>
                <TenantTable tenants={found.data} deleted={deleted} />
                <RowsPager meta={found.meta} />
              </div>
            )}
      </Read>
      <NewTenant open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}

function Nothing({ search, create, views }: { search: Search; create: React.ReactNode; views: { name: string; search: Search }[] }) {
  const filtered = Object.keys(filtersIn(search)).length > 0
  const view = views.find((one) => filtered && isSame(one.search, search))
  const clear = <ButtonLink to="/platform/tenants"><Trans>Clear filters</Trans></ButtonLink>
  if (view && isSame(view.search, { show: 'deleted' })) {
    return <Empty icon="building" title={<Trans>No deleted tenants</Trans>} actions={clear}><Trans>Deleted tenants stay here for a while and can be restored.</Trans></Empty>
  }
  if (view && isSame(view.search, { status: 'past_due,unpaid' })) return <Empty icon="check" title={<Trans>No tenants are past due</Trans>} actions={clear} />
  if (view && isSame(view.search, { trial: '7' })) return <Empty icon="calendar" title={<Trans>No trial ends this week</Trans>} actions={clear} />
  if (filtered) return <Empty icon="search" title={<Trans>No tenants match these filters</Trans>} actions={clear}>{search.search && <Trans>Each word must match the start of a word in the name, or of an email address or ID.</Trans>}</Empty>
  return (
    <Empty icon="building" title={<Trans>No tenants yet</Trans>} actions={<>{create}<CopySignUp /></>}>
      <Trans>Tenants appear here when customers sign up. You can also create one.</Trans>
    </Empty>
  )
}
