import { Trans, useLingui } from '@lingui/react/macro'
import { api, ApiError, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { today } from './limits'
import { UnpaidChoice, useUnpaid } from './UnpaidChoice'
import { useSaved } from './useSaved'

/** Records the payment of an open invoice that arrived outside of the payment provider. */
export function MarkPaid({ tenant, invoice, open, onClose }: {
  tenant: Schema<'AdminTenant'>
  /** The invoice; undefined lets the user choose one. */
  invoice?: { id: string }
  open: boolean; onClose: () => void
}) {
  const { t } = useLingui()
  const saved = useSaved(tenant.id, onClose)
  const unpaid = useUnpaid(tenant.id, open && !invoice)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Mark invoice as paid</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const text = (name: string) => String(values[name] ?? '').trim()
          try {
            const { number } = (await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/mark-paid', {
              params: { path: { tenant: tenant.id, invoice: invoice?.id ?? text('invoice') } }, body: { paid_on: text('paid_on') || undefined, reference: text('reference') || undefined },
            })).data!.data
            await saved(<Trans>Invoice {number} is marked as paid.</Trans>)
          } catch (error) {
            if (error instanceof ApiError && error.code === 'invoice_not_payable') throw new ApiError(409, t`This invoice is not open. It may have been paid in the meantime.`, error.code)
            throw error
          }
        }}
      >
        {({ busy }) => (
          <>
            <p className="flat"><Trans>For a payment that arrived by bank transfer, for example. The card is not charged, and the subscription counts as paid.</Trans></p>
            {!invoice && <UnpaidChoice unpaid={unpaid} />}
            <div className="two">
              <TextField name="paid_on" type="date" label={t`Paid on`} max={today()} defaultValue={today()} />
              <TextField name="reference" label={t`Payment reference`} hint={t`optional`} maxLength={140} autoComplete="off" />
            </div>
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Mark as paid</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
