import { Trans, useLingui } from '@lingui/react/macro'
import { Link, useParams } from '@tanstack/react-router'
import { $api, type Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { InvoiceFacts } from '../../parts/invoice/InvoiceFacts'
import { InvoiceLines } from '../../parts/invoice/InvoiceLines'
import { useMay } from '../../app/session'
import { useHere } from './shared/reads'
import { Page, Section, useTitle } from '../../ui/Page'
import { Skeleton } from '../../ui/Messages'
import { Read } from '../../ui/Read'
import { InvoiceState } from '../../ui/Status'
import { CreditNotes, useNotesOf } from './invoices/CreditNotes'
import { PdfLink } from './invoices/InvoiceTable'
import { OpenInvoice } from './invoices/OpenInvoice'
import { stateOf } from './shared/bill'
import { periodOf } from './shared/invoice'

function Shown({ invoice }: { invoice: Schema<'Invoice'> }) {
  const { t } = useLingui()
  const format = useFormat()
  const may = useMay()
  const period = periodOf(invoice, format)
  useTitle(t`Invoice ${invoice.number}`)
  return (
    <>
      <div className="ent">
        <div>
          <h1>{period} <InvoiceState status={stateOf(invoice)} /></h1>
          <p><Trans>Invoice {invoice.number}</Trans></p>
        </div>
        <div className="acts"><PdfLink invoice={invoice} size="m" /></div>
      </div>
      {invoice.status === 'open' && <OpenInvoice invoice={invoice} />}
      <div className="facts-left sec">
        <InvoiceFacts invoice={invoice} />
        <InvoiceLines invoice={invoice} />
      </div>
      <CreditNotes invoiceId={invoice.id} />
      <Section title={<Trans>Is something wrong?</Trans>}>
        <p className="t13 muted"><Trans>An issued invoice cannot be changed. A new name, address or VAT number applies from the next invoice on.</Trans> {may('tenant.update') && <Link to="/settings" hash="billing"><Trans>Billing details</Trans></Link>}</p>
      </Section>
    </>
  )
}

/** An invoice: lines, total and recipient, with its document and payment. */
export default function Invoice() {
  const { t } = useLingui()
  const { invoiceId } = useParams({ strict: false }) as { invoiceId: string }
  const { params } = useHere()
  const invoice = $api.useQuery('get', '/api/v1/tenant/{tenantId}/invoices/{invoiceId}', { params: { path: { ...params.path, invoiceId } } })
  // Show everything at the same time, so that the content does not move while it loads.
  const notes = useNotesOf(invoiceId)
  return (
    <Page title={t`Invoice`} heading={null}>
      {notes.isLoading ? <Skeleton lines={6} /> : <Read query={invoice} lines={6}>{({ data }) => <Shown invoice={data} />}</Read>}
    </Page>
  )
}
