import { Trans, useLingui } from '@lingui/react/macro'
import { useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { billingOf, BillingFields } from '../../../parts/BillingFields'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { Status, type Tone } from '../../../ui/Status'
import { toast } from '../../../ui/Toast'

/** The billing details of a tenant. */
export function BillingDetailsList({ of }: { of: Schema<'AdminTenant'> }) {
  const format = useFormat()
  const place = [of.address, [of.postal_code, of.city].filter(Boolean).join(' '), of.country && format.country(of.country)].filter(Boolean).join(', ')
  if (!of.legal_name && !place && !of.vat_number && !of.billing_email) return <p className="t13 faint"><Trans>Not provided yet.</Trans></p>
  return (
    <dl className="dl">
      {of.legal_name && <div><dt><Trans>Legal name</Trans></dt><dd>{of.legal_name}</dd></div>}
      {place && <div><dt><Trans>Address</Trans></dt><dd>{place}</dd></div>}
      {of.vat_number && <div><dt><Trans>VAT number</Trans></dt><dd>{of.vat_number}{of.vat_name && <small className="block">{of.vat_name}</small>}<VATState status={of.vat_status} /></dd></div>}
      <div><dt><Trans>Billing email</Trans></dt><dd className="break">{of.billing_email ?? of.owner?.email ?? '–'}</dd></div>
    </dl>
  )
}

/** The answer of the tax authority about a VAT number. */
function VATState({ status }: { status: Schema<'VATStatus'> }) {
  const { t } = useLingui()
  const looks: Partial<Record<Schema<'VATStatus'>, [Tone, string]>> = {
    valid: ['good', t`Valid number`], invalid: ['bad', t`Not a valid number`], pending: ['wait', t`Being checked`], unknown: ['warn', t`Could not be checked`],
  }
  const look = looks[status]
  return look ? <small className="block"><Status tone={look[0]}>{look[1]}</Status></small> : null
}

/** Changes the name and billing details, as the tenant itself can. */
export function EditTenant({ of, open, onClose }: { of: Schema<'AdminTenant'>; open: boolean; onClose: () => void }) {
  const { t } = useLingui()
  const queries = useQueryClient()
  return (
    <Dialog open={open} onClose={onClose} title={<Trans>Details of {of.name}</Trans>} wide>
      <Form
        className="stack"
        onSubmit={async (values) => {
          await api.PATCH('/api/v1/admin/tenants/{tenant}', { params: { path: { tenant: of.id } }, body: { name: String(values.name).trim(), ...billingOf(values) } })
          await Promise.all([queries.invalidateQueries({ queryKey: ['tenants'] }), queries.invalidateQueries({ queryKey: ['audit'] })])
          onClose()
          toast(<Trans>Details saved.</Trans>)
        }}
      >
        {({ busy }) => (
          <>
            <TextField name="name" label={t`Name`} defaultValue={of.name} data-autofocus />
            <BillingFields details={of} />
            <div className="acts">
              <Button onClick={onClose}><Trans>Cancel</Trans></Button>
              <Button type="submit" look="primary" busy={busy}><Trans>Save</Trans></Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
