import { Trans } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { UnpaidChoice, useUnpaid } from './UnpaidChoice'

/** Voids an invoice of a tenant. */
export function VoidInvoice({ tenant, open, onClose }: { tenant: Schema<'AdminTenant'>; open: boolean; onClose: () => void }) {
  const queries = useQueryClient()
  const unpaid = useUnpaid(tenant.id, open)
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Void invoice</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const invoice = String(values.invoice).trim()
          const { number } = (await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/void', { params: { path: { tenant: tenant.id, invoice } } })).data!.data
          await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
          onClose()
          toast(<Trans>Invoice {number} was voided.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <p className="flat"><Trans>It can no longer be paid, here or at the payment provider. It stays in the list with its number. This cannot be undone.</Trans></p>
            <UnpaidChoice unpaid={unpaid} />
            <div className="acts">
              <Button onClick={onClose}><Trans>Go back</Trans></Button>
              <Button type="submit" look="danger solid" busy={busy}><Trans>Void invoice</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
