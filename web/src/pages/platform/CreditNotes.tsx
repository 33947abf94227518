import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { address } from '../../api/client'
import { useFilters } from '../../app/filters'
import { useFormat } from '../../app/format'
import { Settled } from '../../parts/credit/NoteTable'
import { ButtonAnchor, ButtonLink } from '../../ui/Button'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { SortHead } from '../../ui/SortHead'
import { DocumentTabs } from './invoices/Tabs'
import { sharedFilters, useCurrencyOptions } from './Invoices'
import { listQuery, type NoteRow } from './lists/reads'
import { DayFilter } from './lists/DayFilter'
import { ExportCsv } from './lists/ExportCsv'
import { ChoiceFilter, Filters } from './lists/Filters'
import { filterParams, filtersIn, placeOf } from './lists/place'
import { RowsPager } from './lists/RowsPager'
import { TenantFilter } from './lists/TenantFilter'
import { useListKeys } from './lists/useListKeys'
import { usePlatformMay } from './may'
import { NotAllowed } from './NotAllowed'

function Table({ notes }: { notes: NoteRow[] }) {
  const { t } = useLingui()
  const format = useFormat()
  return (
    <table className="table mid cards rows pinv">
      <thead>
        <tr>
          <th scope="col"><Trans>Number</Trans></th><th scope="col"><Trans>Tenant</Trans></th>
          <SortHead by="issue_date" normal="-issue_date"><Trans>Issued</Trans></SortHead>
          <th scope="col"><Trans>Status</Trans></th><th scope="col" className="num"><Trans>Amount</Trans></th><th scope="col" className="fit"><span className="sr"><Trans>Actions</Trans></span></th>
        </tr>
      </thead>
      <tbody>
        {notes.map((one) => {
          const { number, tenant } = one
          return (
            <tr key={one.id} className={one.status === 'void' ? 'is-void' : undefined}>
              <td className="k1"><Link className="rowlink" to="/platform/tenants/$tenantId/invoices/$invoiceId" params={{ tenantId: tenant.id, invoiceId: one.invoice_id }}>{number}</Link></td>
              <td className="k2"><Link className="tn" to="/platform/tenants/$tenantId" params={{ tenantId: tenant.id }}>{tenant.name}</Link><small>{one.memo ?? one.lines.map((line) => line.description).join(', ')}</small></td>
              <td className="k3 muted">{format.shortDay(one.issue_date)}</td>
              <td className="k5"><Settled of={one} /></td>
              <td className="num k6"><b>{format.money(-one.total.amount_cents, one.total.currency)}</b></td>
              <td className="acts-cell k7">
                {one.pdf_url && <ButtonAnchor size="s" look="quiet" icon="download" href={address(`/api/v1/admin/tenants/${tenant.id}/credit-notes/${one.id}/pdf`)} download={`${number}.pdf`} aria-label={t`PDF of ${number}`}>PDF</ButtonAnchor>}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** The credit notes of all tenants. */
export default function CreditNotes() {
  const { t } = useLingui()
  const format = useFormat()
  const may = usePlatformMay()
  const [search] = useFilters()
  const currencies = useCurrencyOptions()
  useListKeys()
  const params = { ...sharedFilters(search), ...filterParams({ status: search.status, refund_status: search.refund }), ...placeOf(search, ['-issue_date', 'issue_date']) }
  const notes = useQuery({ ...listQuery('credit-notes', params), enabled: may('tenants.view') })
  if (!may('tenants.view')) return <NotAllowed needs={['tenants.view']} title={t`Credit notes`} />
  const filtered = Object.keys(filtersIn(search)).length > 0
  const meta = notes.data?.meta
  const sums = (meta?.totals ?? []).map((one) => format.money(-one.total, one.currency)).join(', ')
  return (
    <Page
      title={t`Credit notes`} wide actions={meta?.total !== 0 && <ExportCsv list="credit-notes" params={params} />}
      lead={meta ? <><Plural value={meta.total} one="# credit note" other="# credit notes" />{sums && `, ${sums}`}</> : <>&nbsp;</>}
    >
      <DocumentTabs />
      <Filters search={null} done={<Plural value={meta?.total ?? 0} one="Show # credit note" other="Show # credit notes" />}>
        <DayFilter from="issued_from" to="issued_to" label={t`Issued`} />
        <ChoiceFilter name="status" label={t`Status`} several options={[{ value: 'issued', label: t({ message: 'Issued', context: 'a credit note' }) }, { value: 'void', label: t({ message: 'Void', context: 'invoices' }) }]} />
        <ChoiceFilter name="refund" label={t`Refund`} options={[{ value: 'pending', label: t`Refund in progress` }, { value: 'succeeded', label: t`Refunded` }, { value: 'failed', label: t`Refund failed` }]} />
        <TenantFilter />
        {currencies.length > 1 && <ChoiceFilter name="currency" label={t`Currency`} several options={currencies} />}
      </Filters>
      <Read query={notes} lines={9}>
        {(found) => found.data.length > 0
          ? <div className={notes.isPlaceholderData ? 'is-old' : undefined}><Table notes={found.data} /><RowsPager meta={found.meta} /></div>
          : filtered
            ? <Empty icon="search" title={<Trans>No credit notes match these filters</Trans>} actions={<ButtonLink to="/platform/invoices/credit-notes"><Trans>Clear filters</Trans></ButtonLink>} />
            : <Empty icon="receipt" title={<Trans>No credit notes yet</Trans>} actions={<ButtonLink to="/platform/invoices"><Trans>View invoices</Trans></ButtonLink>}><Trans>A credit note corrects an invoice. Create one from the menu of the invoice.</Trans></Empty>}
      </Read>
    </Page>
  )
}
