import { Trans, useLingui } from '@lingui/react/macro'
import { pageOf, useFilters } from '../../app/filters'
import { $api } from '../../api/client'
import { useMay, useTenant } from '../../app/session'
import { ButtonLink } from '../../ui/Button'
import { Chips } from '../../ui/Chips'
import { Empty } from '../../ui/Messages'
import { Page } from '../../ui/Page'
import { Pager } from '../../ui/Pager'
import { Read } from '../../ui/Read'
import { InvoiceTable } from './invoices/InvoiceTable'
import { OpenInvoice } from './invoices/OpenInvoice'
import { YearTotals } from './invoices/YearTotals'
import { useHere, useOpenInvoices } from './shared/reads'

const known = ['open', 'paid', 'void', 'uncollectible'] as const

/** The invoices, listed by month, to pay or download with one click. */
export default function Invoices() {
  const { t } = useLingui()
  const may = useMay()
  const tenant = useTenant()
  const here = useHere()
  const [search] = useFilters()
  const status = known.find((one) => one === search.status)
  const page = pageOf(search)
  const path = '/api/v1/tenant/{tenantId}/invoices' as const
  const invoices = $api.useQuery('get', path, { params: { ...here.params, query: { page, per_page: 25, status } } })
  const open = useOpenInvoices()
  const to = tenant.billing_email ?? tenant.owner?.email
  const states = [
    { value: 'all', label: t({ message: 'All', context: 'invoices' }) }, { value: 'open', label: t({ message: 'Open', context: 'invoices' }), count: open.data?.meta.total || undefined }, { value: 'paid', label: t({ message: 'Paid', context: 'invoices' }) },
    { value: 'void', label: t({ message: 'Void', context: 'invoices' }) }, { value: 'uncollectible', label: t({ message: 'Written off', context: 'invoices' }) },
  ]
  return (
    <Page
      title={t`Invoices`} lead={to && <Trans>Invoices go to {to}.</Trans>}
      actions={may('tenant.update') && <ButtonLink to="/settings" hash="billing"><Trans>Billing details</Trans></ButtonLink>}
    >
      <div className="stack">{open.data?.data.map((invoice) => <OpenInvoice key={invoice.id} invoice={invoice} />)}</div>
      <div className="toolbar gap-top">
        <Chips name="status" label={t`Status`} value={status} options={states} />
        <YearTotals />
      </div>
      <Read query={invoices} lines={6}>
        {({ data, meta }) => data.length > 0
          ? <><InvoiceTable invoices={data} /><Pager meta={meta} /></>
          : status
            ? <Empty slim icon="receipt" title={<Trans>No invoices with this status</Trans>} actions={<ButtonLink to="/invoices"><Trans>All invoices</Trans></ButtonLink>} />
            : (
                <Empty icon="receipt" title={<Trans>No invoices yet</Trans>} actions={<ButtonLink to="/plan"><Trans>View plans</Trans></ButtonLink>}>
                  <Trans>Your first invoice comes with your first payment. All invoices and their PDFs appear here.</Trans>
                </Empty>
              )}
      </Read>
    </Page>
  )
}
