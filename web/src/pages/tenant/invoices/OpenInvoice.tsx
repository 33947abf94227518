import { Trans } from '@lingui/react/macro'
import type { Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay } from '../../../app/session'
import { Note } from '../../../ui/Messages'
import { leftToPay } from '../shared/bill'
import { periodOf } from '../shared/invoice'
import { useFailedPayment } from '../shared/reads'
import { PayButton } from '../shared/Pay'
import { PortalButton } from '../shared/Portal'

/** An invoice that waits for its payment, with what to do. */
export function OpenInvoice({ invoice }: { invoice: Schema<'Invoice'> }) {
  const format = useFormat()
  const may = useMay()
  const read = useFailedPayment().data?.data
  const amount = format.sum(leftToPay(invoice))
  const period = periodOf(invoice, format)
  if (!invoice.payment_action) return <Note icon="clock" title={<Trans>{amount} for {period} is under way</Trans>}><Trans>Your bank is moving it. That can take a few days.</Trans></Note>
  const failed = read?.invoice === invoice.id ? read : undefined
  const retry = failed?.next_attempt_at && format.day(failed.next_attempt_at)
  const confirm = invoice.payment_action.type === 'confirm'
  const actions = may('billing.manage') && (
    <>
      {!confirm && <PortalButton><Trans>Use another card</Trans></PortalButton>}
      <PayButton invoice={invoice} look="primary"><Trans>Pay {amount}</Trans></PayButton>
    </>
  )
  return (
    <Note tone="bad" title={<Trans>{amount} for {period} is open</Trans>} actions={actions}>
      {confirm
        ? <Trans>Your bank wants you to confirm this payment. It takes a minute, on the bank’s own page.</Trans>
        : failed?.decline_message ?? <Trans>The payment did not go through. Pay now, or use another card first.</Trans>}
      {!confirm && retry && <> <Trans>Without you, it is tried again on {retry}.</Trans></>}
      {!may('billing.manage') && <> <Trans>Somebody who may pay has to do that; you may not.</Trans></>}
    </Note>
  )
}
