import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../api/client'
import { useFormat } from '../../app/format'
import { leftToPay, settledOf } from './amounts'

function Line({ line }: { line: Schema<'InvoiceLine'> }) {
  const format = useFormat()
  const several = line.quantity !== 1
  return (
    <tr>
      <td className="k1">
        {line.description}
        {line.period_start && line.period_end && <small>{format.period(line.period_start, line.period_end)}</small>}
      </td>
      <td className="num k2 muted">{several && <>{format.number(line.quantity)} × {format.sum(line.unit_price)}</>}</td>
      <td className="num k3"><b>{format.sum(line.amount)}</b></td>
    </tr>
  )
}

/** The lines and the total of an invoice. */
export function InvoiceLines({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  const { amount_cents: applied, currency } = invoice.balance_applied
  const { credited, refunded } = settledOf(invoice)
  const open = invoice.status === 'open'
  return (
    <div>
      <table className="table cards lines">
        <thead>
          <tr>
            <th scope="col"><Trans>Description</Trans></th>
            <th scope="col" className="num"><Trans>Quantity</Trans></th>
            <th scope="col" className="num"><Trans>Amount</Trans></th>
          </tr>
        </thead>
        <tbody>{invoice.lines.map((line) => <Line key={line.id} line={line} />)}</tbody>
      </table>
      <dl className="sums totals">
        <div><dt><Trans>Total excluding tax</Trans></dt><dd>{format.sum(invoice.subtotal)}</dd></div>
        <div><dt><Trans>Tax</Trans></dt><dd>{format.sum(invoice.tax)}</dd></div>
        <div className="tot"><dt><Trans>Total</Trans></dt><dd>{format.sum(invoice.total)}</dd></div>
        {applied > 0 && <div><dt><Trans>Paid from balance</Trans></dt><dd>{format.money(-applied, currency)}</dd></div>}
        {applied < 0 && <div><dt><Trans>Added to the balance</Trans></dt><dd>{format.money(-applied, currency)}</dd></div>}
        {open && credited > 0 && <div><dt><Trans>Credit notes</Trans></dt><dd>{format.money(-credited, currency)}</dd></div>}
        {(applied > 0 || (open && credited > 0)) && <div className="tot"><dt>{open ? <Trans>Amount due</Trans> : <Trans>Charged</Trans>}</dt><dd>{format.sum(leftToPay(invoice))}</dd></div>}
        {!open && credited > 0 && <div><dt><Trans>Credited</Trans></dt><dd>{format.money(-credited, currency)}</dd></div>}
        {!open && refunded > 0 && <div><dt>{credited > 0 ? <Trans>Refunded part</Trans> : <Trans>Refunded</Trans>}</dt><dd>{format.money(-refunded, currency)}</dd></div>}
      </dl>
    </div>
  )
}
