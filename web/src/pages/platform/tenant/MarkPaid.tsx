import { Trans, useLingui } from '@lingui/react/macro'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { leftToPay } from '../../../parts/invoice/amounts'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { today } from './limits'
import { useHasInvoice } from './invoices'
import { UnpaidChoice } from './UnpaidChoice'
import { useSaved } from './useSaved'

interface Props {
  tenant: { id: string; name: string }
  /** The invoice; undefined lets the user choose one. */
  invoice?: Schema<'Invoice'>
  open: boolean
  onClose: () => void
}

/** Records the payment of an open invoice that arrived outside of the payment provider. */
export function MarkPaid(props: Props) {
  return <Dialog open={props.open} onClose={props.onClose} title={<Trans>Record payment</Trans>}><Body {...props} /></Dialog>
}

function Body({ tenant, invoice, onClose }: Props) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const hasInvoice = useHasInvoice(tenant.id, 'open', invoice)
  const number = invoice?.number ?? ''
  const amount = invoice ? format.sum(leftToPay(invoice)) : ''
  const due = invoice?.due_date && format.day(invoice.due_date)
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        const text = (name: string) => String(values[name] ?? '').trim()
        try {
          const paid = (await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/mark-paid', {
            params: { path: { tenant: tenant.id, invoice: invoice?.id ?? text('invoice') } }, body: { paid_on: text('paid_on') || undefined, reference: text('reference') || undefined },
          })).data!.data
          await saved(<Trans>The payment of invoice {paid.number} was recorded.</Trans>)
        } catch (error) {
          if (error instanceof ApiError && error.code === 'invoice_not_payable') throw new ApiError(409, t`This invoice is not open. It may have been paid in the meantime.`, error.code)
          throw error
        }
      }}
    >
      {({ busy }) => (
        <>
          {invoice && <p className="flat">{due ? <Trans>Invoice {number} of {tenant.name}, {amount}, due on {due}.</Trans> : <Trans>Invoice {number} of {tenant.name}, {amount}.</Trans>}</p>}
          {!invoice && <UnpaidChoice tenant={tenant.id} status="open" />}
          <div className="two">
            <TextField name="paid_on" type="date" label={t`Paid on`} max={today()} defaultValue={today()} data-autofocus={invoice ? true : undefined} />
            <TextField name="reference" label={t`Payment reference`} hint={t`optional`} maxLength={140} autoComplete="off" />
          </div>
          <p className="outcome"><b><Trans>The invoice then counts as paid in full.</Trans></b> <Trans>No card is charged for it, and reminders stop.</Trans></p>
          <div className="acts">
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy} disabled={!hasInvoice}>{invoice ? <Trans>Record payment of {amount}</Trans> : <Trans>Record payment</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
