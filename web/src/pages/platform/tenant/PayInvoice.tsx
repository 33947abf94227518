import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { leftToPay } from '../../../parts/invoice/amounts'
import { Button } from '../../../ui/Button'
import { CopyButton } from '../../../ui/Copy'
import { Dialog } from '../../../ui/Dialog'
import { Form } from '../../../ui/Form'
import { Note } from '../../../ui/Messages'
import { Read } from '../../../ui/Read'
import { useMethodWords } from './PaymentFacts'
import { billingQuery } from './reads'
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

/** Charges the customer's saved payment method for an open invoice. */
export function PayInvoice(props: Props) {
  const billing = useQuery({ ...billingQuery(props.tenant.id), enabled: props.open })
  return (
    <Dialog open={props.open} onClose={props.onClose} title={<Trans>Charge invoice</Trans>}>
      <Read query={billing} lines={3}>{(of) => <Body method={of.payment_method} {...props} />}</Read>
    </Dialog>
  )
}

/** Returns the page on which the customer can pay, from an invoice or a refusal. */
function linkIn(of: unknown): string | undefined {
  return (of as Schema<'PaymentAction'> | null | undefined)?.url
}

function Body({ method, tenant, invoice, onClose }: Props & { method: Schema<'PaymentMethod'> | null }) {
  const { t } = useLingui()
  const format = useFormat()
  const words = useMethodWords()
  const saved = useSaved(onClose)
  const hasInvoice = useHasInvoice(tenant.id, 'open', invoice)
  const [link, setLink] = useState(linkIn(invoice?.payment_action))
  const number = invoice?.number ?? ''
  const amount = invoice ? format.sum(leftToPay(invoice)) : ''
  const name = method ? words(method) : ''
  const copy = link && <CopyButton text={link}><Trans>Copy payment link</Trans></CopyButton>
  if (!method) {
    return (
      <div className="stack">
        <Note tone="warn" title={<Trans>No payment method is saved</Trans>}><Trans>The customer can pay on the payment page, or you record a payment that has arrived.</Trans></Note>
        <div className="acts"><Button onClick={onClose}><Trans>Close</Trans></Button>{copy}</div>
      </div>
    )
  }
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        const id = invoice?.id ?? String(values.invoice ?? '')
        try {
          const paid = (await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/pay', { params: { path: { tenant: tenant.id, invoice: id } } })).data!.data
          const { number } = paid
          await saved(paid.status === 'paid' ? <Trans>Invoice {number} was paid.</Trans> : <Trans>The payment of invoice {number} is in progress.</Trans>)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          setLink(linkIn(error.body.payment_action) ?? link)
          if (error.code === 'invoice_not_payable') throw new ApiError(409, t`This invoice is not open. It may have been paid in the meantime.`, error.code)
          if (error.code === 'payment_failed') throw new ApiError(422, t`The payment was declined. Send the payment link to the customer.`, error.code)
          throw error
        }
      }}
    >
      {({ busy }) => (
        <>
          {invoice ? <p className="flat"><Trans>{amount} of invoice {number} is charged to {tenant.name} now.</Trans></p> : <UnpaidChoice tenant={tenant.id} status="open" />}
          <dl className="dl"><div><dt><Trans>Payment method</Trans></dt><dd>{name}</dd></div></dl>
          <div className="acts">
            {copy}
            <Button onClick={onClose}><Trans>Cancel</Trans></Button>
            <Button type="submit" look="primary" busy={busy} disabled={!hasInvoice} data-autofocus>{invoice ? <Trans>Charge {amount}</Trans> : <Trans>Charge invoice</Trans>}</Button>
          </div>
        </>
      )}
    </Form>
  )
}
