import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { address } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { Section } from '../../../ui/Page'
import { Read } from '../../../ui/Read'
import { InvoiceState } from '../../../ui/Status'
import { stateOf } from '../shared/bill'
import { mainLine, periodOf } from '../shared/invoice'
import { useLastInvoices } from '../shared/reads'

/** The newest invoices with their documents. */
export function LastInvoices() {
  const { t } = useLingui()
  const format = useFormat()
  const invoices = useLastInvoices()
  const total = invoices.data?.meta.total ?? 0
  return (
    <Section className="" title={<Trans>Invoices</Trans>} end={total > 0 && <Link to="/invoices"><Trans>View all ({total})</Trans></Link>}>
      <Read query={invoices}>
        {({ data }) => (data.length === 0
          ? <p className="t13 muted"><Trans>Your first invoice comes with your first payment.</Trans></p>
          : (
              <ul className="list invoices">
                {data.map((invoice) => (
                  <li key={invoice.id}>
                    <Link className="rowlink" to="/invoices/$invoiceId" params={{ invoiceId: invoice.id }}>{periodOf(invoice, format, { short: true })}</Link>
                    {stateOf(invoice) === 'paid'
                      ? <span className="faint cut">{mainLine(invoice)?.description}</span>
                      : <InvoiceState status={stateOf(invoice)} />}
                    <span className="end num">{format.sum(invoice.total)}</span>
                    {invoice.pdf_url && (
                      <a href={address(`/api/v1/tenant/${invoice.tenant_id}/invoices/${invoice.id}/pdf`)} download={`${invoice.number}.pdf`} aria-label={t`PDF of ${invoice.number}`}>PDF</a>
                    )}
                  </li>
                ))}
              </ul>
            ))}
      </Read>
    </Section>
  )
}
