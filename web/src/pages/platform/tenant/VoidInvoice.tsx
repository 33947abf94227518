import { Trans, useLingui } from '@lingui/react/macro'
import { api, ApiError, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { leftToPay } from '../../../parts/invoice/amounts'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Form } from '../../../ui/Form'
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

/** Voids a draft or open invoice of a tenant as a whole. */
export function VoidInvoice(props: Props) {
  const { open, onClose, invoice } = props
  const number = invoice?.number ?? ''
  return <Dialog open={open} onClose={onClose} title={invoice ? <Trans>Void invoice {number}?</Trans> : <Trans>Void invoice</Trans>}><Body {...props} /></Dialog>
}

function Body({ tenant, invoice, onClose }: Props) {
  const { t } = useLingui()
  const format = useFormat()
  const saved = useSaved(onClose)
  const hasInvoice = useHasInvoice(tenant.id, 'open,draft', invoice)
  const amount = invoice ? format.sum(leftToPay(invoice)) : ''
  return (
    <Form
      className="stack"
      onSubmit={async (values) => {
        const id = invoice?.id ?? String(values.invoice ?? '')
        try {
          const { number } = (await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/void', { params: { path: { tenant: tenant.id, invoice: id } } })).data!.data
          await saved(<Trans>Invoice {number} was voided.</Trans>)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          if (error.code === 'invoice_has_credit_notes') throw new ApiError(409, t`The invoice has credit notes. Lower the rest with another credit note.`, error.code)
          if (error.code === 'invoice_not_voidable') throw new ApiError(409, t`This invoice is not open. It may have been paid in the meantime.`, error.code)
          throw error
        }
      }}
    >
      {({ busy }) => (
        <>
          <p className="flat">
            {invoice && <><Trans>{tenant.name} then owes {amount} less.</Trans>{' '}</>}
            <Trans>It can no longer be paid, here or at the payment provider. It stays in the list with its number. This cannot be undone.</Trans>
          </p>
          {!invoice && <UnpaidChoice tenant={tenant.id} status="open,draft" />}
          <div className="acts">
            <Button onClick={onClose} data-autofocus={invoice ? true : undefined}><Trans>Keep invoice</Trans></Button>
            <Button type="submit" look="danger solid" busy={busy} disabled={!hasInvoice}><Trans>Void invoice</Trans></Button>
          </div>
        </>
      )}
    </Form>
  )
}
