import { Trans, useLingui } from '@lingui/react/macro'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { useMay, useTenant } from '../../../app/session'
import { Button, ButtonAnchor } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Problem } from '../../../ui/Messages'
import { toast } from '../../../ui/Toast'
import { leftToPay } from '../../../parts/invoice/amounts'
import { PortalButton } from './Portal'
import { useRefresh } from './reads'

/** Pays an open invoice with the stored card, or opens the page for the bank's confirmation. */
export function PayButton({ invoice, look = 'plain', size, children }: {
  invoice: Schema<'Invoice'>; look?: 'primary' | 'plain'; size?: 's' | 'm'; children?: ReactNode
}) {
  const { t } = useLingui()
  const { id } = useTenant()
  const may = useMay()
  const format = useFormat()
  const refresh = useRefresh()
  const amount = format.sum(leftToPay(invoice))
  const paying = useMutation({
    mutationFn: async () => (await api.POST('/api/v1/tenant/{tenantId}/invoices/{invoiceId}/pay', { params: { path: { tenantId: id, invoiceId: invoice.id } } })).data!.data,
    onSuccess: async (paid) => {
      await refresh('/invoices', '/subscription', '/timeline', '/billing', '/entitlements')
      toast(paid.status === 'paid' ? t`Payment of ${amount} received. Thank you.` : t`The payment of ${amount} is in progress.`)
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.code === 'invoice_not_payable') await refresh('/invoices', '/subscription')
    },
  })
  if (!may('billing.manage') || invoice.status !== 'open') return null
  if (invoice.payment_action?.type === 'confirm') {
    return <ButtonAnchor look={look} size={size} href={invoice.payment_action.url}><Trans>Confirm payment</Trans></ButtonAnchor>
  }
  const refused = paying.error instanceof ApiError && paying.error.code === 'payment_failed' ? paying.error : undefined
  const page = (refused?.body.payment_action as Schema<'PaymentAction'> | null | undefined) ?? invoice.payment_action
  return (
    <>
      <Button look={look} size={size} busy={paying.isPending} onClick={() => paying.mutate()} aria-label={t`Pay ${amount}, ${invoice.number}`}>
        {children ?? <Trans>Pay</Trans>}
      </Button>
      <Dialog open={paying.isError} onClose={paying.reset} title={<Trans>{amount} was not paid</Trans>}>
        <div className="stack">
          {refused
            ? <p><Trans>Your bank declined the payment. Use another card, or pay on the provider’s page.</Trans></p>
            : <Problem error={paying.error} />}
          <div className="acts">
            <Button onClick={paying.reset}><Trans>Close</Trans></Button>
            <PortalButton><Trans>Use another card</Trans></PortalButton>
            {page && <ButtonAnchor look="primary" href={page.url}>{page.type === 'confirm' ? <Trans>Confirm payment</Trans> : <Trans>Pay on the provider’s page</Trans>}</ButtonAnchor>}
          </div>
        </div>
      </Dialog>
    </>
  )
}
