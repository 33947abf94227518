import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { ButtonLink } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { SearchField } from '../../ui/SearchField'
import { currenciesQuery } from './catalog/reads'
import { InvoiceTable } from './invoices/InvoiceTable'
import { DocumentTabs } from './invoices/Tabs'
import { Tiles } from './invoices/Tiles'
import { listQuery } from './lists/reads'
import { DayFilter } from './lists/DayFilter'
import { ExportCsv } from './lists/ExportCsv'
import { ChoiceFilter, Filters, FlagFilter } from './lists/Filters'
import { filterParams, filtersIn, placeOf, type Search } from './lists/place'
import { RowsPager } from './lists/RowsPager'
import { PhoneSort } from './lists/Sorts'
import { TenantFilter } from './lists/TenantFilter'
import { useListKeys } from './lists/useListKeys'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

const orders = ['-issue_date', 'issue_date', 'total', '-total', 'due_date']

/** Returns the currencies as options of a filter, if the admin may view them. */
export function useCurrencyOptions() {
  const format = useFormat()
  const may = usePlatformMay()
  const currencies = useQuery({ ...currenciesQuery, enabled: may('plans.view') }).data ?? []
  return currencies.map(({ code }) => ({ value: code, label: `${code}, ${format.currency(code)}` }))
}

/** The filters that invoices and credit notes have. */
export const sharedFilters = ({ tenant, currency, issued_from, issued_to }: Search) => filterParams({ tenant, currency, issued_from, issued_to })

/** The invoices of all tenants, with the sums of what matches by currency. */
export default function Invoices() {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const [search] = useFilters()
  const currencies = useCurrencyOptions()
  useListKeys()
  const shared = sharedFilters(search)
  const base = { ...shared, ...filterParams({ number: search.search?.trim() || undefined }) }
  const params = { ...base, ...filterParams({ status: search.status, overdue: search.overdue === '1' ? 'true' : undefined }), ...placeOf(search, orders) }
  const invoices = useQuery({ ...listQuery('invoices', params), enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Invoices`} />
  const filtered = Object.keys(filtersIn(search)).length > 0
  const total = invoices.data?.meta.total
  const since = search.issued_from && !search.issued_to && format.dayWithYear(search.issued_from)
  const statuses = [
    { value: 'open', label: t({ message: 'Open', context: 'invoices' }) }, { value: 'paid', label: t({ message: 'Paid', context: 'invoices' }) }, { value: 'draft', label: t`Draft` },
    { value: 'void', label: t({ message: 'Void', context: 'invoices' }) }, { value: 'uncollectible', label: t({ message: 'Written off', context: 'invoices' }) },
  ]
  const sorts = [
    { value: '-issue_date', label: t`Newest first` }, { value: 'issue_date', label: t`Oldest first` }, { value: 'due_date', label: t`By due date` }, { value: '-total', label: t`By amount` },
  ]
  return (
    <Page
      title={t`Invoices`} wide actions={total !== 0 && <ExportCsv list="invoices" params={params} />}
      lead={total === undefined ? <>&nbsp;</> : since ? <Plural value={total} one={`# invoice since ${since}`} other={`# invoices since ${since}`} /> : <Plural value={total} one="# invoice" other="# invoices" />}
    >
      <DocumentTabs />
      <Tiles base={base} dates={shared} />
      <Filters search={<SearchField label={t`Search by number`} />} done={<Plural value={total ?? 0} one="Show # invoice" other="Show # invoices" />}>
        <DayFilter from="issued_from" to="issued_to" label={t`Issued`} />
        <ChoiceFilter name="status" label={t`Status`} several options={statuses} />
        <FlagFilter name="overdue" label={t`Past due`} />
        <TenantFilter />
        {currencies.length > 1 && <ChoiceFilter name="currency" label={t`Currency`} several options={currencies} />}
      </Filters>
      <PhoneSort orders={sorts} />
      <Read query={invoices} lines={9}>
        {(found) => found.data.length > 0
          ? (
              <div className={invoices.isPlaceholderData ? 'is-old' : undefined}>
                <InvoiceTable invoices={found.data} sorted />
                <RowsPager meta={found.meta} />
              </div>
            )
          : filtered
            ? <Empty icon="search" title={<Trans>No invoices match these filters</Trans>} actions={<ButtonLink to="/platform/invoices"><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty icon="receipt" title={<Trans>No invoices yet</Trans>} actions={<ButtonLink to="/platform/tenants"><Trans>Open tenants</Trans></ButtonLink>}><Trans>Invoices appear here with the first payment.</Trans></Empty>}
      </Read>
    </Page>
  )
}
