import { Trans } from '@lingui/react/macro'
import { Link } from '@tanstack/react-router'
import { useFormat } from '../../../app/format'
import { settledOf } from '../../../parts/invoice/amounts'
import { SortHead } from '../../../ui/SortHead'
import { InvoiceState, Status } from '../../../ui/Status'
import type { InvoiceRow } from '../lists/reads'
import { InvoiceDialogs, useAskedInvoice } from './Dialogs'
import { InvoiceMenu } from './Menu'
import { contentOf, isOverdue } from './words'

/** The status of an invoice with its reason or its day. */
function State({ of }: { of: InvoiceRow }) {
  const format = useFormat()
  if (of.status === 'open') {
    const due = of.due_date && format.day(of.due_date)
    return (
      <>
        {isOverdue(of) ? <Status tone="bad"><Trans>Past due</Trans></Status> : <Status tone="wait"><Trans context="an invoice">Open</Trans></Status>}
        {of.payment_action?.type === 'confirm' ? <small><Trans>Awaiting bank confirmation</Trans></small> : due && <small>{isOverdue(of) ? <Trans>Since {due}</Trans> : <Trans>Due on {due}</Trans>}</small>}
      </>
    )
  }
  const paid = of.status === 'paid' && (of.paid_on ?? of.paid_at)
  return (
    <>
      <InvoiceState status={of.status} />
      {paid && <small>{[format.day(paid), of.payment_reference].filter(Boolean).join(', ')}</small>}
    </>
  )
}

/** The total, and the part that was refunded, credited or is still due. */
function Amount({ of }: { of: InvoiceRow }) {
  const format = useFormat()
  const { credited, refunded } = settledOf(of)
  const money = (cents: number) => format.money(cents, of.total.currency)
  const [back, less, due] = [money(refunded), money(credited), format.sum(of.amount_due)]
  const partly = of.status === 'open' && of.amount_due.amount_cents !== of.total.amount_cents
  return (
    <>
      <b>{format.sum(of.total)}</b>
      {partly ? <small><Trans>{due} due</Trans></small> : refunded > 0 ? <small><Trans>{back} refunded</Trans></small> : credited > 0 && <small><Trans>{less} credited</Trans></small>}
    </>
  )
}

/** A table of invoices with their actions. With tenant, they are one tenant's and the column is omitted. */
export function InvoiceTable({ invoices, sorted, tenant }: { invoices: InvoiceRow[]; sorted?: boolean; tenant?: boolean }) {
  const format = useFormat()
  const dialogs = useAskedInvoice()
  const normal = '-issue_date'
  const head = (by: string, orders: string[], words: React.ReactNode, className?: string) =>
    sorted ? <SortHead by={by} normal={normal} orders={orders} className={className}>{words}</SortHead> : <th scope="col" className={className}>{words}</th>
  return (
    <>
      <table className={`table mid cards rows pinv ${tenant ? 'of-one' : ''}`}>
        <thead>
          <tr>
            <th scope="col"><Trans>Number</Trans></th>
            <th scope="col">{tenant ? <Trans>Content</Trans> : <Trans>Tenant</Trans>}</th>
            {head('issue_date', ['-issue_date', 'issue_date'], <Trans>Issued</Trans>)}
            {head('due_date', ['due_date', '-issue_date'], <Trans>Due</Trans>, 'k4')}
            <th scope="col"><Trans>Status</Trans></th>
            {head('total', ['-total', 'total'], <Trans>Amount</Trans>, 'num')}
            <th scope="col" className="fit"><span className="sr"><Trans>Actions</Trans></span></th>
          </tr>
        </thead>
        <tbody>
          {invoices.map((one) => (
            <tr key={one.id} className={one.status === 'void' || one.status === 'uncollectible' ? 'is-void' : undefined}>
              <td className="k1"><Link className="rowlink" to="/platform/tenants/$tenantId/invoices/$invoiceId" params={{ tenantId: one.tenant_id, invoiceId: one.id }}>{one.number}</Link></td>
              <td className="k2">
                {tenant ? contentOf(one) : <><Link className="tn" to="/platform/tenants/$tenantId" params={{ tenantId: one.tenant_id }}>{one.tenant.name}</Link><small>{contentOf(one)}</small></>}
              </td>
              <td className="k3 muted">{format.shortDay(one.issue_date)}</td>
              <td className="k4 muted">{one.due_date ? format.shortDay(one.due_date) : '–'}</td>
              <td className="k5"><State of={one} /></td>
              <td className="num k6"><Amount of={one} /></td>
              <td className="acts-cell k7"><InvoiceMenu of={one} onAsk={dialogs.ask} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      <InvoiceDialogs {...dialogs} />
    </>
  )
}
