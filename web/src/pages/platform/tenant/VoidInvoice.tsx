import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../../api/client'
import { useFormat } from '../../../app/format'
import { timelineQuery } from '../../../parts/timeline/reads'
import { Button } from '../../../ui/Button'
import { Dialog } from '../../../ui/Dialog'
import { SelectField, TextField } from '../../../ui/Field'
import { Form } from '../../../ui/Form'
import { toast } from '../../../ui/Toast'
import { billingQuery } from './reads'

interface Unpaid {
  id: string
  number: string | null
  sum: string
}

/**
 * Returns the unpaid invoices that are known here: the one with the failed payment, and those in
 * the latest time line entries.
 */
function useUnpaid(tenant: string, enabled: boolean): Unpaid[] {
  const format = useFormat()
  const failed = useQuery({ ...billingQuery(tenant), enabled }).data?.failed_payment
  const entries = useInfiniteQuery({ ...timelineQuery({ tenant }, 'payments', 100), enabled }).data ?? []
  const found = new Map<string, Unpaid>()
  const over = new Set<string>()
  for (const { kind, type, facts } of entries) {
    if (kind !== 'payments' || !facts.invoice) continue
    if (type === 'payment.succeeded' || type === 'invoice.voided') over.add(facts.invoice)
    else if (type === 'invoice.issued') found.set(facts.invoice, { id: facts.invoice, number: facts.number, sum: format.money(facts.amount, facts.currency) })
  }
  if (failed?.invoice) found.set(failed.invoice, { id: failed.invoice, number: failed.number, sum: format.money(failed.amount, failed.currency) })
  return [...found.values()].filter((one) => !over.has(one.id) || one.id === failed?.invoice)
}

/** Selects an unpaid invoice, or accepts the id of any other. */
function Choice({ unpaid }: { unpaid: Unpaid[] }) {
  const { t } = useLingui()
  const [other, setOther] = useState(false)
  const byId = unpaid.length === 0 || other
  return (
    <>
      {unpaid.length > 0 && (
        <SelectField name={other ? 'choice' : 'invoice'} label={t`Invoice`} onChange={(event) => setOther(event.target.value === '')} data-autofocus>
          {unpaid.map(({ id, number, sum }) => <option key={id} value={id}>{number ? t`${number}, ${sum}` : sum}</option>)}
          <option value="">{t`Another invoice, by ID`}</option>
        </SelectField>
      )}
      {byId && <TextField name="invoice" label={t`Invoice ID`} autoComplete="off" spellCheck={false} help={t`Act as a member and open the invoice. The ID is the last part of its address.`} data-autofocus={unpaid.length === 0 || undefined} />}
    </>
  )
}

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
            <Choice unpaid={unpaid} />
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
