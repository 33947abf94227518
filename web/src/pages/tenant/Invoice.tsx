import { Trans, useLingui } from '@lingui/react/macro'
import { Link, useParams } from '@tanstack/react-router'
import { $api, type Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { useHere } from './shared/reads'
import { Page, Section, useTitle } from '../../ui/Page'
import { Read } from '../../ui/Read'
import { InvoiceState } from '../../ui/Status'
import { InvoiceLines } from './invoices/InvoiceLines'
import { PdfLink } from './invoices/InvoiceTable'
import { OpenInvoice } from './invoices/OpenInvoice'
import { stateOf } from './shared/bill'
import { periodOf } from './shared/invoice'

/** The recipient of an invoice, as of its issue. */
function Party({ party }: { party: Schema<'InvoiceParty'> }) {
  const format = useFormat()
  const { address } = party
  const place = [address.postal_code, address.city].filter(Boolean).join(' ')
  const lines = [party.name, address.line1, address.line2, place, address.state, address.country && format.country(address.country), party.email]
  return <address className="party">{lines.filter(Boolean).map((line) => <span key={line}>{line}</span>)}</address>
}

function Facts({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  return (
    <div className="facts">
      <h2><Trans>Details</Trans></h2>
      <dl className="dl">
        <div><dt><Trans>Number</Trans></dt><dd>{invoice.number}</dd></div>
        <div><dt><Trans>Date</Trans></dt><dd>{format.dayWithYear(invoice.issue_date)}</dd></div>
        {invoice.due_date && <div><dt><Trans>Due</Trans></dt><dd>{format.dayWithYear(invoice.due_date)}</dd></div>}
        {invoice.paid_at && <div><dt><Trans context="when">Paid</Trans></dt><dd>{format.exact(invoice.paid_at)}</dd></div>}
      </dl>
      <h2><Trans>Bill to</Trans></h2>
      <Party party={invoice.billing_info} />
    </div>
  )
}

function Shown({ invoice }: { invoice: Schema<'Invoice'> }) {
  const { t } = useLingui()
  const format = useFormat()
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
        <Facts invoice={invoice} />
        <InvoiceLines invoice={invoice} />
      </div>
      <Section title={<Trans>Is something wrong?</Trans>}>
        <p className="t13 muted"><Trans>An issued invoice cannot be changed. A new name, address or VAT number applies from the next invoice on: <Link to="/settings" hash="billing">change the billing details</Link>.</Trans></p>
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
  return (
    <Page title={t`Invoice`} heading={null}>
      <Read query={invoice} lines={6}>{({ data }) => <Shown invoice={data} />}</Read>
    </Page>
  )
}
