import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { Party } from './Party'

/** The dates, the payment and the recipient of an invoice. */
export function InvoiceFacts({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  return (
    <div className="facts">
      <h2><Trans>Details</Trans></h2>
      <dl className="dl">
        <div><dt><Trans>Number</Trans></dt><dd>{invoice.number}</dd></div>
        <div><dt><Trans>Date</Trans></dt><dd>{format.dayWithYear(invoice.issue_date)}</dd></div>
        {invoice.due_date && <div><dt><Trans>Due</Trans></dt><dd>{format.dayWithYear(invoice.due_date)}</dd></div>}
        {invoice.paid_at && <div><dt><Trans context="when">Paid</Trans></dt><dd>{invoice.paid_on ? format.dayWithYear(invoice.paid_on) : format.exact(invoice.paid_at)}</dd></div>}
        {invoice.payment_reference && <div><dt><Trans>Payment reference</Trans></dt><dd className="break">{invoice.payment_reference}</dd></div>}
        {invoice.purchase_order && <div><dt><Trans>Purchase order</Trans></dt><dd className="break">{invoice.purchase_order}</dd></div>}
      </dl>
      <h2><Trans>Bill to</Trans></h2>
      <Party party={invoice.billing_info} />
    </div>
  )
}
