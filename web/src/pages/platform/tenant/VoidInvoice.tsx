import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'

/** Voids an invoice of a tenant by its id: the tenant's members see the list, the platform does not. */
export function VoidInvoice({ tenant, open, onClose }: { tenant: Schema<'AdminTenant'>; open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Void an invoice</Trans>}>
      <Form
        className="stack"
        onSubmit={async (values) => {
          const invoice = String(values.invoice).trim()
          const { number } = (await api.POST('/api/v1/admin/tenants/{tenant}/invoices/{invoice}/void', { params: { path: { tenant: tenant.id, invoice } } })).data!.data
          await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
          onClose()
          toast(<Trans>Invoice {number} is void.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <p className="flat"><Trans>Nobody can pay it any more, here or at the payment provider. It stays in the list with its number. This cannot be undone.</Trans></p>
            <TextField name="invoice" label={t`Id of the invoice`} autoComplete="off" spellCheck={false} help={t`Act as a member and open the invoice: the id is the end of its address.`} data-autofocus />
            <div className="acts">
              <Button onClick={onClose}><Trans>Leave it</Trans></Button>
              <Button type="submit" look="danger solid" busy={busy}><Trans>Void the invoice</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
