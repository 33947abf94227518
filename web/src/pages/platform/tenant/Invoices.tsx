import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { ButtonLink } from '../../../ui/Button'
import { Empty } from '../../../ui/Messages'
import { Read } from '../../../ui/Read'
import { SearchField } from '../../../ui/SearchField'
import { useFilters } from '../../../app/filters'
import { InvoiceTable } from '../invoices/InvoiceTable'
import { listQuery } from '../lists/reads'
import { DayFilter } from '../lists/DayFilter'
import { ChoiceFilter, Filters, FlagFilter } from '../lists/Filters'
import { filterParams, filtersIn, placeOf } from '../lists/place'
import { RowsPager } from '../lists/RowsPager'
import { useListKeys } from '../lists/useListKeys'
import { useCustomer } from './useCustomer'

/** The invoices of a tenant, with their actions. */
export default function Invoices() {
  const { t } = useLingui()
  const of = useCustomer()
  const [search] = useFilters()
  useListKeys()
  const { search: number, status, overdue, issued_from, issued_to } = search
  const params = { ...filterParams({ tenant: of.id, number: number?.trim() || undefined, status, overdue: overdue === '1' ? 'true' : undefined, issued_from, issued_to }), ...placeOf(search, ['-issue_date', 'issue_date', 'total', '-total', 'due_date']) }
  const invoices = useQuery(listQuery('invoices', params))
  const filtered = Object.keys(filtersIn(search)).length > 0
  const statuses = [
    { value: 'open', label: t({ message: 'Open', context: 'invoices' }) }, { value: 'paid', label: t({ message: 'Paid', context: 'invoices' }) }, { value: 'draft', label: t`Draft` },
    { value: 'void', label: t({ message: 'Void', context: 'invoices' }) }, { value: 'uncollectible', label: t({ message: 'Written off', context: 'invoices' }) },
  ]
  const total = invoices.data?.meta.total ?? 0
  return (
    <section>
      <h2 className="sr"><Trans>Invoices</Trans></h2>
      {(filtered || total > 1) && (
        <Filters search={<SearchField label={t`Search by number`} />} done={<Plural value={total} one="Show # invoice" other="Show # invoices" />}>
          <ChoiceFilter name="status" label={t`Status`} several options={statuses} />
          <FlagFilter name="overdue" label={t`Past due`} />
          <DayFilter from="issued_from" to="issued_to" label={t`Issued`} />
        </Filters>
      )}
      <Read query={invoices} lines={6}>
        {(found) => found.data.length > 0
          ? <div className={invoices.isPlaceholderData ? 'is-old' : undefined}><InvoiceTable invoices={found.data} sorted tenant /><RowsPager meta={found.meta} /></div>
          : filtered
            ? <Empty slim icon="search" title={<Trans>No invoices match these filters</Trans>} actions={<ButtonLink to="." search={{}}><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty slim icon="receipt" title={<Trans>No invoices yet</Trans>}><Trans>Invoices appear here with the first payment.</Trans></Empty>}
      </Read>
    </section>
  )
}
