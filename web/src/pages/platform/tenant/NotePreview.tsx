import { Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import type { Draft, Preview } from '../../../parts/credit/api'
import { settledOf } from '../../../parts/invoice/amounts'

function Figure({ label, amount, className }: { label: ReactNode; amount: ReactNode; className?: string }) {
  return <div className={className}><dt>{label}</dt><dd>{amount}</dd></div>
}

/** The amounts of a credit note, and the invoice after it. */
export function NotePreview({ invoice, draft, preview, busy, children }: {
  invoice: Schema<'Invoice'>; draft: Draft | undefined; preview: Preview | undefined; busy: boolean; children: ReactNode
}) {
  const format = useFormat()
  const { currency } = invoice.total
  const money = (cents: number) => format.money(cents, currency)
  const { credited } = settledOf(invoice)
  const total = preview?.total.amount_cents ?? 0
  const reverse = preview?.tax.amount_cents === 0 && invoice.tax.amount_cents === 0
  const after = credited + total
  const { number } = invoice
  const refunds = draft?.settlement === 'refund' ? total : 0
  return (
    <div className="cn-side">
      <div aria-live="polite" aria-busy={busy || undefined}>
        <h3><Trans>Preview</Trans></h3>
        {preview && draft
          ? (
              <>
                <dl>
                  {(draft.lines ?? []).map((one) => <Figure key={one.line_id} label={invoice.lines.find((line) => line.id === one.line_id)?.description} amount={money(one.amount_cents)} />)}
                  <Figure className={draft.lines ? 'sum' : 'sum first'} label={<Trans>Credit note</Trans>} amount={money(total)} />
                  {!reverse && <Figure label={<Trans>Net</Trans>} amount={format.sum(preview.subtotal)} />}
                  {!reverse && <Figure label={<Trans>VAT</Trans>} amount={format.sum(preview.tax)} />}
                </dl>
                <hr />
                <h3><Trans>Invoice {number} after this</Trans></h3>
                <dl>
                  <Figure label={<Trans>Total</Trans>} amount={format.sum(invoice.total)} />
                  <Figure label={<Trans>Credited</Trans>} amount={money(-after)} />
                  <Figure className="sum" label={invoice.status === 'open' ? <Trans>Amount due</Trans> : <Trans>Remaining</Trans>} amount={money(invoice.total.amount_cents - after - (invoice.status === 'open' ? Math.max(0, invoice.balance_applied.amount_cents) : 0))} />
                  {preview.refundable.amount_cents > 0 && <Figure label={<Trans>Still refundable</Trans>} amount={money(Math.max(0, preview.refundable.amount_cents - refunds))} />}
                </dl>
              </>
            )
          : <p className="help"><Trans>Select what to credit to see the amounts.</Trans></p>}
      </div>
      <div className="go">{children}</div>
    </div>
  )
}
