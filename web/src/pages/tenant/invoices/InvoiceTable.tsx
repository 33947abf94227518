import { Trans, useLingui } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { address, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { ButtonAnchor } from '../../../ui/Button'
import { InvoiceState } from '../../../ui/Status'
import { stateOf } from '../shared/bill'
import { mainLine, otherLines, periodOf } from '../shared/invoice'
import { PayButton } from '../shared/Pay'

/** A link to the document of an invoice, relative to the console's base URL. */
export function PdfLink({ invoice, size = 's' }: { invoice: Schema<'Invoice'>; size?: 's' | 'm' }) {
  const { t } = useLingui()
  if (!invoice.pdf_url) return null
  const href = address(`/api/v1/tenant/${invoice.tenant_id}/invoices/${invoice.id}/pdf`)
  return (
    <ButtonAnchor size={size} look={size === 's' ? 'quiet' : 'plain'} icon="download" href={href} download={`${invoice.number}.pdf`} aria-label={t`PDF of ${invoice.number}`}>
      PDF
    </ButtonAnchor>
  )
}

/** The payment date or the due date. */
function StateDetail({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  if (invoice.status === 'paid' && invoice.paid_at) return <small>{format.day(invoice.paid_at)}</small>
  if (invoice.status !== 'open') return null
  if (!invoice.payment_action) return null
  if (invoice.payment_action.type === 'confirm') return <small><Trans>Your bank requires confirmation</Trans></small>
  if (!invoice.due_date) return null
  const day = format.day(invoice.due_date)
  return <small><Trans>due on {day}</Trans></small>
}

function Row({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  const others = otherLines(invoice)
  const first = others[0]
  const more = others.length - 1
  return (
    <tr className={invoice.status === 'void' ? 'is-void' : undefined}>
      <td className="k1"><Link className="rowlink" to="/invoices/$invoiceId" params={{ invoiceId: invoice.id }}>{periodOf(invoice, format)}</Link></td>
      <td className="k2">
        {mainLine(invoice)?.description}
        {first && (
          <small>
            {first.description}, <span className="nowrap">{format.sum(first.amount)}</span>
            {more > 0 && <> <Trans>and {more} more</Trans></>}
          </small>
        )}
      </td>
      <td className="k3 muted nowrap">{invoice.number}</td>
      <td className="k4"><InvoiceState status={stateOf(invoice)} /><StateDetail invoice={invoice} /></td>
      <td className="num k5"><b>{format.sum(invoice.total)}</b></td>
      <td className="acts-cell k6"><PayButton invoice={invoice} size="s" /><PdfLink invoice={invoice} /></td>
    </tr>
  )
}

export function InvoiceTable({ invoices }: { invoices: Schema<'Invoice'>[] }) {
  return (
    <table className="table cards inv">
      <thead>
        <tr>
          <th scope="col"><Trans>Period</Trans></th>
          <th scope="col"><Trans>Description</Trans></th>
          <th scope="col"><Trans>Number</Trans></th>
          <th scope="col"><Trans>Status</Trans></th>
          <th scope="col" className="num"><Trans>Amount</Trans></th>
          <th scope="col" className="fit"><span className="sr"><Trans>Download and pay</Trans></span></th>
        </tr>
      </thead>
      <tbody>{invoices.map((invoice) => <Row key={invoice.id} invoice={invoice} />)}</tbody>
    </table>
  )
}
