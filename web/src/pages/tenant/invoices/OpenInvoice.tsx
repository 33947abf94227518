import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useHolds, useMay } from '../../../app/session'
import { ButtonAnchor } from '../../../ui/Button'
import { Note } from '../../../ui/Messages'
import { leftToPay } from '../../../parts/invoice/amounts'
import { isLate } from '../shared/bill'
import { periodOf } from '../shared/invoice'
import { useFailedPayment, useSubscription } from '../shared/reads'
import { PayButton } from '../shared/Pay'
import { PortalButton } from '../shared/Portal'
import { PdfLink } from './InvoiceTable'

/** An invoice that was sent to the customer, who pays it by its due date. */
function SentInvoice({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  const amount = format.sum(leftToPay(invoice))
  const period = periodOf(invoice, format)
  const day = invoice.due_date ? format.day(invoice.due_date) : ''
  const late = isLate(invoice)
  const actions = (
    <>
      <PdfLink invoice={invoice} size="m" />
      {invoice.payment_action && <ButtonAnchor look="primary" href={invoice.payment_action.url}><Trans>Pay {amount}</Trans></ButtonAnchor>}
    </>
  )
  return (
    <Note
      tone={late ? 'bad' : undefined} icon={late ? undefined : 'receipt'} actions={actions}
      title={late ? <Trans>{amount} for {period} was due on {day}</Trans> : <Trans>{amount} for {period} is due on {day}</Trans>}
    >
      <Trans>You can pay it online. A bank transfer is recorded when it arrives.</Trans>
    </Note>
  )
}

/** An unpaid invoice with its action. */
export function OpenInvoice({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  const holds = useHolds()
  const may = useMay()
  const read = useFailedPayment().data?.data
  const amount = format.sum(leftToPay(invoice))
  const period = periodOf(invoice, format)
  if (!invoice.payment_action) return <Note icon="clock" title={<Trans>Payment of {amount} for {period} is in progress</Trans>}><Trans>Your bank is processing the payment. This can take a few days.</Trans></Note>
  const failed = read?.invoice === invoice.id ? read : undefined
  // A sent invoice is paid on its page; no card was charged.
  const subscription = useSubscription().data?.data
  const sent = !failed && invoice.due_date && invoice.subscription_id === subscription?.id && subscription?.collection === 'invoice'
  if (sent) return <SentInvoice invoice={invoice} />
  const retry = failed?.next_attempt_at && format.day(failed.next_attempt_at)
  const confirm = invoice.payment_action.type === 'confirm'
  const actions = may('billing.manage') && (
    <>
      {!confirm && <PortalButton><Trans>Use another card</Trans></PortalButton>}
      <PayButton invoice={invoice} look="primary"><Trans>Pay {amount}</Trans></PayButton>
    </>
  )
  return (
    <Note tone="bad" title={<Trans>{amount} for {period} is unpaid</Trans>} actions={actions}>
      {confirm
        ? <Trans>Your bank requires you to confirm this payment. It takes a minute on the bank’s page.</Trans>
        : failed?.decline_message ?? <Trans>The payment failed. Pay now, or use another card first.</Trans>}
      {!confirm && retry && <> <Trans>Otherwise, the payment will be retried on {retry}.</Trans></>}
      {!holds('billing.manage') && <> <Trans>You do not have permission to pay. Ask a member who does.</Trans></>}
    </Note>
  )
}
